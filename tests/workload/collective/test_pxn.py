"""All-to-all receiver by receiver through the own server's GPU on the receiver's rail."""

from fractions import Fraction

from sim.workload.collective import pxn


def test_messages_of_a_member():
    plan = pxn.all_to_all(12, 4)
    mine = plan.src == 5
    inside = mine & (plan.dst // 4 == 1)
    assert inside.sum() == 3 * 2 + 3 and (plan.part[inside] == 1).all(), "one for each receiver on another rail, and one to each neighbour"
    across = mine & ~inside
    assert plan.dst[across].tolist() == [9, 1] and plan.part[across].tolist() == [4, 4] and (plan.parts == 12).all()


def test_a_message_goes_out_as_soon_as_the_server_has_brought_its_shares():
    plan = pxn.all_to_all(12, 4)
    (row,) = ((plan.src == 5) & (plan.dst == 9)).nonzero()[0]
    brought = plan.before[plan.then == row]
    assert sorted(plan.src[brought].tolist()) == [4, 6, 7] and set(plan.dst[brought].tolist()) == {5}
    carried, block = plan.carried()
    assert block[carried == row].tolist() == [9 * 12 + member for member in (4, 5, 6, 7)]


def test_bytes_over_nvlink_and_across():
    plan = pxn.all_to_all(32, 8)
    sent = {True: Fraction(0), False: Fraction(0)}
    for src, dst, part, parts in zip(plan.src.tolist(), plan.dst.tolist(), plan.part.tolist(), plan.parts.tolist()):
        if src == 0:
            sent[dst < 8] += Fraction(part, parts)
    assert sent == {True: Fraction(7, 8), False: Fraction(3, 4)}
