"""What people saw on stderr, word for word; the issue of each is beside it."""

# tensorflow/tensorflow#57058, M1 Max.
INTERNAL_ERROR = """Error: command buffer exited with error status.
\tThe Metal Performance Shaders operations encoded on it may not have completed.
\tError: 
\t(null)
\tInternal Error (0000000e:Internal Error)
\t<AGXG13XFamilyCommandBuffer: 0x1665c64e0>
    label = <none> 
    device = <AGXG13XDevice: 0x12da25600>
        name = Apple M1 Max 
    commandQueue = <AGXG13XFamilyCommandQueue: 0x106477000>
        label = <none> 
        device = <AGXG13XDevice: 0x12da25600>
            name = Apple M1 Max 
    retainedReferences = 1
"""  # noqa: W291  # as it is written
# apple/tensorflow_macos#202, M1.
IGNORED = INTERNAL_ERROR.replace(
    "Internal Error (0000000e:Internal Error)",
    "Ignored (for causing prior/excessive GPU errors) (IOAF code 4)",
)
# As in koboldcpp#1371 and mlx-lm-lora#16: the same Metal layer, other programs.
OUT_OF_MEMORY = "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"
INSUFFICIENT = INTERNAL_ERROR.replace("Internal Error (0000000e:Internal Error)", OUT_OF_MEMORY)
MLX_INSUFFICIENT = f"[METAL] Command buffer execution failed: {OUT_OF_MEMORY}\n"
# ggml-org/llama.cpp#8886.
LLAMA_IGNORED = """ggml_metal_graph_compute: command buffer 0 failed with status 5
error: Ignored (for causing prior/excessive GPU errors) (00000004:kIOAccelCommandBufferCallbackErrorSubmissionsIgnored)
"""  # noqa: E501
# WebODM/OpenSplat#198.
ABORTED_COMMAND = (
    "Execution of the command buffer was aborted due to an error during execution. "
    "Internal Error (0000000e:Internal Error)\n"
)
# ddangelov/Top2Vec#232, an Intel iMac with an AMD card.
DEVICE_OOM = (
    "RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[114389,320] and type float on "
    "/job:localhost/replica:0/task:0/device:GPU:0 by allocator Simple allocator\n"
)
_MPS = (
    "/AppleInternal/Library/BuildRoots/b11baf73/Library/Caches/com.apple.xbs/Sources/"
    "MetalPerformanceShaders/MPSCore/Types/MPSNDArray.mm"
)
# pytorch/pytorch#143859, ESRGAN#134.
TOO_MANY_BYTES = (
    f"{_MPS}:850: failed assertion `[MPSNDArray initWithDevice:descriptor:isTextureBacked:] "
    "Error: total bytes of NDArray > 2**32'\n"
)
# pytorch/pytorch#84039.
TOO_MANY_ELEMENTS = (
    f"{_MPS}:705: failed assertion '[MPSNDArray initWithDevice:descriptor:] "
    "Error: product of dimension sizes > 2**31 '\n"
)
# pytorch/pytorch#77851; the closing quote is missing there.
SMALL_BUFFER = (
    f"{_MPS}:782: failed assertion `[MPSNDArray, initWithBuffer:descriptor:] "
    "Error: buffer is not large enough. Must be 1024 bytes\n"
)
# pytorch/pytorch#146769.
TOO_LONG = f"{_MPS}:1: failed assertion `NDArray dimension length > INT_MAX'\n"
# pytorch/pytorch#101251: an assertion that is no limit.
OTHER_ASSERTION = (
    "MPSNDArray.mm:78: failed assertion `[MPSNDArrayDescriptor sliceDimension:withSubrange:] "
    "error: dimension index (2) not within number of dimensions (2)'\n"
)
# TensorFlow 2.16.2, and tensorflow/tensorflow#39108 and #54364.
PROTOBUF = (
    "ValueError: Cannot create a tensor proto whose content is larger than 2GB.\n",
    "[libprotobuf ERROR external/com_google_protobuf/src/google/protobuf/message_lite.cc:449] "
    "tensorflow.FunctionDef exceeded maximum protobuf size of 2GB: 2400001283\n"
    "ValueError: Signature specifies 0 arguments, got: 1. Expected inputs: [].\n",
    "InvalidArgumentError: Cannot serialize protocol buffer of type tensorflow.GraphDef as the "
    "serialized size (2643020353bytes) would be larger than the limit (2147483647 bytes)\n",
    "Message tensorflow.GraphDef exceeds maximum protobuf size of 2GB\n",
)
_WHERE = "/Users/me/venv/lib/python3.11/site-packages"
_NOT_FOUND = (
    f"tensorflow.python.framework.errors_impl.NotFoundError: "
    f"dlopen({_WHERE}/tensorflow-plugins/libmetal_plugin.dylib, 0x0006): "
)
# tensorflow/tensorflow#84167, #81987.
PLUGIN_SYMBOL = f"""{_NOT_FOUND}Symbol not found: __ZN3tsl8internal10LogMessageC1EPKcii
  Referenced from: <D2EF42E3> {_WHERE}/tensorflow-plugins/libmetal_plugin.dylib
  Expected in:     <2814A58E> {_WHERE}/tensorflow/python/_pywrap_tensorflow_internal.so
"""
# A MacBook Air M1 with TensorFlow 2.20.0: public recording 8998482903.
PLUGIN_LIBRARY = f"""{_NOT_FOUND}Library not loaded: @rpath/_pywrap_tensorflow_internal.so
  Referenced from: <D2EF42E3> {_WHERE}/tensorflow-plugins/libmetal_plugin.dylib
  Reason: tried: '{_WHERE}/tensorflow-plugins/../_solib_darwin_arm64/_U@local' (no such file)
"""
BAD_ALLOC = (
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  bad_alloc\n"
)
