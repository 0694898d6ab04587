"""Wormhole Lab: a packet-level simulator of the networks that train large language models."""
