//! What SPIR-V and OpenCL C have, and what it is here.

use crate::bar::foreign_syntax::hint::{ACCESS, Foreign, Hint, Kernel};
use Hint::{NotModelled, Write};

pub(in crate::bar::system) const FOREIGN: Foreign =
    Foreign { compiled: &[SPIRV, Kernel { sign: "OpEntryPoint", ..SPIRV }], written: &[OPENCL], statement };

const SPIRV: Kernel = Kernel {
    sign: "OpCapability",
    language: "SPIR-V",
    how: "name the file `kernel.spvasm`: `barcheck verify kernel.spvasm`",
};
const OPENCL: Kernel = Kernel {
    sign: "__kernel",
    language: "OpenCL C",
    how: "compile it, `clang -target spirv64 -c kernel.cl -o kernel.spv`, and hand over what comes of it: `barcheck \
          verify kernel.spv`",
};

const SPIRV_BARRIER: Hint =
    Write("write `OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;`");

fn statement(text: &str) -> Option<Hint> {
    Some(match text {
        "barrier" | "work_group_barrier" | "controlbarrier" | "groupmemorybarrierwithgroupsync" => {
            SPIRV_BARRIER
        }
        "sub_group_barrier" | "subgroupbarrier" => {
            Write("write `OpControlBarrier Subgroup, Subgroup, AcquireRelease|WorkgroupMemory;`")
        }
        "intel_work_group_barrier_arrive" | "work_group_barrier_arrive" => {
            Write("write `OpControlBarrierArriveINTEL Workgroup, Workgroup, Release|WorkgroupMemory;`")
        }
        "intel_work_group_barrier_wait" | "work_group_barrier_wait" => {
            Write("write `OpControlBarrierWaitINTEL Workgroup, Workgroup, Acquire|WorkgroupMemory;`")
        }
        "mem_fence" | "atomic_work_item_fence" | "memorybarrier" => {
            Write("write `OpMemoryBarrier Workgroup, AcquireRelease|WorkgroupMemory;`")
        }
        "opnamedbarrierinitialize" | "opmemorynamedbarrier" => {
            NotModelled("the barriers here are those of a scope: the workgroup, a subgroup, an invocation")
        }
        "opload" | "opstore" => ACCESS,
        _ if text.starts_with("opatomic") => ACCESS,
        _ if text.starts_with("opgroup") => NotModelled("only control barriers and memory barriers are"),
        _ => return None,
    })
}
