"""The Python enums of the C ABI."""

from __future__ import annotations

from header import Header

# Python name, C type, prefix of its enumerators and docstring of the enums that Python code uses.
PYTHON_ENUMS = (
    ("Status", "mluOpStatus_t", "MLUOP_STATUS_", "Status of a call."),
    ("DataType", "mluOpDataType_t", "MLUOP_DTYPE_", "Type of an element. The numbers are those of the C ABI."),
    ("Layout", "mluOpTensorLayout_t", "MLUOP_LAYOUT_", "Meaning of the dimensions of a tensor."),
    ("SeqDataLayout", "mluOpSeqDataLayout_t", "MLUOP_SEQDATA_", "Meaning of the dimensions of sequence data."),
    (
        "ComputationPreference",
        "mluOpComputationPreference_t",
        "MLUOP_COMPUTATION_",
        "Whether speed or precision matters more.",
    ),
    ("AtomicsMode", "mluOpAtomicsMode_t", "MLUOP_ATOMICS_", "Whether an operator may use device atomics."),
    ("QuantizeRoundMode", "mluOpQuantizeRoundMode_t", "MLUOP_ROUND_", "How quantisation rounds."),
    ("LogBase", "mluOpLogBase_t", "MLUOP_", "Base of a logarithm."),
    ("PointerMode", "mluOpPointerMode_t", "MLUOP_POINTER_MODE_", "Whether a tensor is in host or in device memory."),
    ("NmsBoxPointMode", "mluOpNmsBoxPointMode_t", "MLUOP_NMS_BOX_", "How a box is written."),
    ("NmsOutputMode", "mluOpNmsOutputMode_t", "MLUOP_NMS_OUTPUT_", "What non-maximum suppression returns."),
    ("NmsMethodMode", "mluOpNmsMethodMode_t", "MLUOP_NMS_", "Kind of non-maximum suppression."),
    ("NmsAlgo", "mluOpNmsAlgo_t", "MLUOP_NMS_ALGO_", "Whether the boundary of a box belongs to it."),
    ("LossReduction", "mluOpLossReduction_t", "MLUOP_LOSS_REDUCTION_", "Reduction of a loss."),
    ("ReduceMode", "mluOpReduceMode_t", "MLUOP_REDUCE_", "Reduction of points to voxels."),
    ("PoolingMode", "mluOpPoolingMode_t", "MLUOP_POOLING_", "Kind of pooling."),
    ("AdamWDescAttribute", "mluOpAdamWDescAttribute_t", "MLUOP_ADAMW_", "Attribute of an AdamW descriptor."),
)


def python_enums(header: Header) -> str:
    """Return pymluops/enums.py."""
    enums = {enum.name: enum for enum in header.enums}
    parts = [f'# {header.banner}\n"""The enums of the C ABI that Python code uses."""\n\nfrom enum import IntEnum\n']
    for name, type_name, prefix, text in PYTHON_ENUMS:
        members = "".join(
            f"    {member.removeprefix(prefix)} = {value}\n" for member, value in enums[type_name].members
        )
        parts.append(f'class {name}(IntEnum):\n    """{text}"""\n\n{members}')
    return "\n\n".join(parts)
