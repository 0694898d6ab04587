"""The keys of a scenario as the form shows them: label, unit and choices of each, in the groups in which they appear."""

from typing import NamedTuple

from sim.catalogue.gpus import GPUS
from sim.catalogue.models import MODELS
from sim.catalogue.nodes import NODES


class Field(NamedTuple):
    """One key of the scenario and its label, which carries the unit."""

    key: str
    label: str
    choices: tuple = ()


CLUSTER = (
    Field("cluster.topology", "Topology"),
    Field("cluster.gpus", "GPUs"),
    Field("cluster.node", "Server type", tuple(NODES)),
    Field("cluster.gpu", "GPU type", tuple(GPUS)),
    Field("cluster.gpus_per_node", "GPUs per server"),
    Field("cluster.nic_gbps", "NIC speed (Gb/s)"),
    Field("cluster.tiers", "Switch tiers", (2, 3)),
    Field("cluster.leaves", "Leaf switches"),
    Field("cluster.spines", "Spine switches"),
    Field("cluster.hosts_per_leaf", "NICs per leaf"),
    Field("cluster.pod_servers", "Servers per pod"),
    Field("cluster.fat_tree_k", "Ports per switch (k)"),
    Field("cluster.oversubscription", "Oversubscription (x : 1)"),
    Field("cluster.core_oversubscription", "Of the core (x : 1)"),
)
LINKS = (
    Field("cluster.fabric_gbps", "Leaf to spine (Gb/s)"),
    Field("cluster.core_gbps", "Spine to core (Gb/s)"),
    Field("cluster.nvlink_gbps", "NVLink per direction (Gb/s)"),
    Field("cluster.nvlink_delay_ns", "NVLink delay (ns)"),
    Field("cluster.nic_delay_ns", "NIC link delay (ns)"),
    Field("cluster.fabric_delay_ns", "Fabric link delay (ns)"),
    Field("cluster.core_delay_ns", "Core link delay (ns)"),
    Field("cluster.ecmp_seed", "ECMP hash seed"),
    Field("cluster.hosts_forward", "GPUs forward packets of others"),
)
MODEL = (
    Field("model.name", "Model", tuple(MODELS)),
    Field("model.sequence", "Sequence (tokens)"),
)
STRATEGY = (
    Field("parallelism.tp", "Tensor parallel (TP)"),
    Field("parallelism.pp", "Pipeline stages (PP)"),
    Field("parallelism.dp", "Data parallel (DP)"),
    Field("parallelism.cp", "Context parallel (CP)"),
    Field("parallelism.ep", "Expert parallel (EP)"),
    Field("parallelism.micro_batches", "Micro-batches"),
    Field("parallelism.micro_batch", "Sequences per micro-batch"),
)
SCHEDULE = (
    Field("parallelism.schedule", "Schedule"),
    Field("parallelism.virtual_stages", "Virtual stages per GPU"),
    Field("parallelism.recompute", "Recompute activations"),
    Field("parallelism.optimizer", "Optimizer and ZeRO"),
    Field("parallelism.gradient_algorithm", "Gradient exchange"),
    Field("parallelism.channels", "Rings side by side"),
    Field("parallelism.bucket_parameters", "Bucket (parameters)"),
    Field("parallelism.global_batch", "Global batch (sequences)"),
    Field("parallelism.iterations", "Iterations"),
    Field("parallelism.sequence_parallel", "Sequence parallel"),
    Field("parallelism.overlap_gradients", "Overlap gradients"),
    Field("parallelism.uneven_stages", "Uneven stages"),
    Field("parallelism.context_form", "Context exchange"),
)
COMPUTE = (
    Field("parallelism.efficiency", "Compute efficiency (0–1)"),
    Field("parallelism.precision", "Precision"),
    Field("parallelism.placement", "Placement of ranks"),
)
EXPERTS = (
    Field("parallelism.expert_algorithm", "Token exchange"),
    Field("parallelism.expert_skew", "Skew of expert loads"),
    Field("parallelism.capacity_factor", "Capacity factor"),
)
SHAPE = (
    Field("model.layers", "Layers"),
    Field("model.hidden", "Hidden size"),
    Field("model.heads", "Attention heads"),
    Field("model.kv_heads", "Key and value heads"),
    Field("model.head_dim", "Width of a head"),
    Field("model.ffn_hidden", "MLP inner size"),
    Field("model.vocabulary", "Vocabulary (tokens)"),
    Field("model.gated", "Gated MLP (SwiGLU)"),
    Field("model.biased", "Biases and LayerNorm"),
    Field("model.tied_embeddings", "Tied embeddings"),
    Field("model.experts", "Experts per layer"),
    Field("model.top_k", "Experts per token"),
    Field("model.expert_ffn", "Expert inner size"),
    Field("model.shared_experts", "Shared experts"),
    Field("model.dense_layers", "Dense first layers"),
    Field("model.latent", "Latent attention"),
)
TRAFFIC = (
    Field("traffic.pattern", "Pattern"),
    Field("traffic.flow_bytes", "Bytes per flow"),
    Field("traffic.senders", "Senders"),
    Field("traffic.receiver", "Receiving GPU"),
    Field("traffic.collective", "Collective"),
    Field("traffic.algorithm", "Algorithm"),
    Field("traffic.collective_bytes", "Bytes per GPU"),
    Field("traffic.ranks", "GPUs that take part"),
    Field("traffic.channels", "Channels"),
    Field("traffic.chunks", "Chunks per message"),
    Field("traffic.repeat", "Times"),
)
TRANSPORT = (
    Field("transport.congestion_control", "Congestion control"),
    Field("transport.payload_bytes", "Payload per packet (B)"),
    Field("transport.ecn_kmin_kb", "ECN kmin (kB)"),
    Field("transport.ecn_kmax_kb", "ECN kmax (kB)"),
    Field("transport.ecn_pmax", "ECN pmax (0–1)"),
    Field("transport.ecn_reference_gbps", "ECN thresholds hold at (Gb/s)"),
    Field("transport.pfc", "PFC"),
    Field("transport.pfc_xoff_kb", "PFC xoff (kB)"),
    Field("transport.pfc_xon_kb", "PFC xon (kB)"),
    Field("transport.buffer_mb", "Switch buffer (MB)"),
)
PACKETS = (
    Field("transport.window", "Window"),
    Field("transport.ack_priority", "ACK priority"),
    Field("transport.ack_every", "Packets per ACK"),
    Field("transport.ack_bytes", "ACK size (B)"),
    Field("transport.header_bytes", "Headers per packet (B)"),
    Field("transport.retransmit_timeout_us", "Retransmit after (µs)"),
    Field("transport.int_telemetry", "INT counters"),
    Field("transport.hpcc_arithmetic", "HPCC arithmetic"),
)
SIMULATION = (
    Field("simulation.seed", "Random seed"),
    Field("simulation.resolution", "Clock resolution"),
    Field("simulation.time_limit_s", "Stop after (simulated s)"),
    Field("simulation.sample_bins", "Time bins of curves"),
    Field("simulation.paper_theta", "Steady within (level paper)"),
    Field("simulation.paper_samples", "Steady for (samples of 1 µs)"),
)
JITTER = (Field("parallelism.compute_jitter", "Compute jitter (deviation / mean)"),)
STRAGGLER = (
    Field("gpu", "Slow GPU"),
    Field("speed", "Speed / that of the others"),
)
BACKGROUND = (
    Field("pattern", "Background pattern"),
    Field("flow_bytes", "Bytes per background flow"),
    Field("first_gpu", "First GPU in it"),
    Field("gpus", "GPUs in it"),
    Field("receiver", "Receiver of the incast"),
    Field("start_us", "First at (µs)"),
    Field("period_us", "Again after (µs)"),
    Field("times", "How often"),
)
JOB = (
    Field("name", "Name of the job"),
    Field("gpus", "GPUs of the job"),
    Field("first_gpu", "First GPU of the job"),
    Field("start_us", "Starts at (µs)"),
)
ROWS = {"stragglers": ("slow GPU", STRAGGLER), "background": ("background", BACKGROUND), "jobs": ("job", JOB)}  # of a list: its entry, its keys
OF_A_JOB = (*MODEL, *STRATEGY, *SCHEDULE, *COMPUTE, *EXPERTS, *SHAPE, *JITTER)
FIELDS = (*CLUSTER, *LINKS, *OF_A_JOB, *TRAFFIC, *TRANSPORT, *PACKETS, *SIMULATION)
