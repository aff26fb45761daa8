// Named barriers of XeGPU, in the forms of several years.
module @tests attributes {gpu.container_module} {
  gpu.module @kernels {

    // expect pairs: verified
    gpu.func @pairs(%out: memref<64xf32>) kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 8, 4, 1>} {
      %c4 = arith.constant 4 : index
      %c8_i8 = arith.constant 8 : i8
      %c4_i8 = arith.constant 4 : i8
      xegpu.alloc_nbarrier 12
      %x = gpu.global_id x
      %y = gpu.global_id y
      %column = arith.remui %y, %c4 : index
      %row = gpu.thread_id x
      %column_i8 = arith.index_cast %column : index to i8
      %row_i8 = arith.index_cast %row : index to i8
      %row_id = arith.addi %row_i8, %c4_i8 : i8
      %first = xegpu.init_nbarrier %column_i8, %c8_i8 : i8, i8 -> !xegpu.nbarrier
      %second = xegpu.init_nbarrier %row_id, %c4_i8 : i8, i8 -> !xegpu.nbarrier
      xegpu.nbarrier_arrive %first : !xegpu.nbarrier
      xegpu.nbarrier_arrive %second : !xegpu.nbarrier
      xegpu.compile_hint
      xegpu.nbarrier_wait %first : !xegpu.nbarrier
      xegpu.nbarrier_wait %second : !xegpu.nbarrier
      gpu.return
    }

    // One participant more is expected than there are.
    // expect one_too_many: violated deadlock
    gpu.func @one_too_many() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 8, 1, 1>} {
      %c1 = arith.constant 1 : i8
      %n = arith.constant 8 : i8
      %c7 = arith.constant 7 : index
      xegpu.alloc_nbarrier 2
      %sg = gpu.subgroup_id : index
      %last = arith.cmpi ult, %sg, %c7 : index
      scf.if %last {
        %nb = xegpu.init_nbarrier %c1, %n : i8, i8 -> !xegpu.nbarrier
        xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
        xegpu.nbarrier_wait %nb : !xegpu.nbarrier
      }
      gpu.return
    }

    // A loop over tiles, with a barrier every second time, the handle carried along.
    // expect tiles: verified
    gpu.func @tiles(%a: memref<4096xf16>, %n: index) kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 8, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c63 = arith.constant 63 : index
      %c0_i8 = arith.constant 0 : i8
      %c8_i8 = arith.constant 8 : i8
      xegpu.alloc_nbarrier 1
      %nb = xegpu.init_nbarrier %c0_i8, %c8_i8 : i8, i8 -> !xegpu.nbarrier
      %cst = arith.constant dense<0.000000e+00> : vector<8xf32>
      %end:2 = scf.for %k = %c0 to %c32 step %c1 iter_args(%sum = %cst, %handle = %nb) -> (vector<8xf32>, !xegpu.nbarrier) {
        %bits = arith.andi %k, %c63 : index
        %is = arith.cmpi eq, %bits, %c0 : index
        scf.if %is {
          xegpu.nbarrier_arrive %handle : !xegpu.nbarrier
        }
        %more = arith.addf %sum, %sum : vector<8xf32>
        scf.if %is {
          xegpu.nbarrier_wait %handle : !xegpu.nbarrier
        }
        xegpu.compile_hint
        scf.yield %more, %handle : vector<8xf32>, !xegpu.nbarrier
      }
      xegpu.nbarrier_arrive %end#1 : !xegpu.nbarrier
      xegpu.nbarrier_wait %end#1 : !xegpu.nbarrier
      gpu.return
    }

    // How many rounds there are is known at launch, and the same for all.
    // expect by_length: verified
    gpu.func @by_length(%n: index) kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %k = %c0 to %n step %c1 {
        gpu.barrier
      }
      gpu.return
    }

    // Barriers of the whole group in two arms are two.
    // expect arms: violated deadlock
    gpu.func @arms() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c2 = arith.constant 2 : index
      %sg = gpu.subgroup_id : index
      %low = arith.cmpi slt, %sg, %c2 : index
      scf.if %low {
        gpu.barrier
      } else {
        gpu.barrier
      }
      gpu.return
    }

    // expect behind: verified
    gpu.func @behind() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c2 = arith.constant 2 : index
      %sg = gpu.subgroup_id : index
      %low = arith.cmpi slt, %sg, %c2 : index
      cf.cond_br %low, ^bb1(%sg : index), ^bb2
    ^bb1(%x: index):
      cf.br ^bb2
    ^bb2:
      gpu.barrier
      gpu.return
    }

    // A producer and three consumers.
    // expect roles: verified
    gpu.func @roles() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : index
      %id = arith.constant 1 : i8
      %producer = arith.constant 1 : i8
      %consumer = arith.constant 2 : i8
      xegpu.alloc_nbarrier 2
      %sg = gpu.subgroup_id : index
      %first = arith.cmpi eq, %sg, %c0 : index
      %role = arith.select %first, %producer, %consumer : i8
      %nb = xegpu.create_nbarrier %id, %role {num_producers = 1 : i8, num_consumers = 3 : i8} : (i8, i8) -> !xegpu.nbarrier
      xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
      xegpu.mfence {memory_kind = "ugm", fence_op = "none", fence_scope = "local"}
      scf.if %first {
      } else {
        xegpu.nbarrier_wait %nb : !xegpu.nbarrier
      }
      gpu.return
    }

    // A producer that waits for its own barrier.
    // expect producer_waits: violated producer-waits
    gpu.func @producer_waits() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : index
      %id = arith.constant 1 : i8
      %producer = arith.constant 1 : i8
      %consumer = arith.constant 2 : i8
      xegpu.alloc_nbarrier 2
      %sg = gpu.subgroup_id : index
      %first = arith.cmpi eq, %sg, %c0 : index
      %role = arith.select %first, %producer, %consumer : i8
      %nb = xegpu.create_nbarrier %id, %role {num_producers = 1 : i8, num_consumers = 3 : i8} : (i8, i8) -> !xegpu.nbarrier
      xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
      xegpu.nbarrier_wait %nb : !xegpu.nbarrier
      gpu.return
    }

    // The form that all operations have.
    // expect generic: verified
    "gpu.func"() <{function_type = () -> (), gpu.kernel, sym_name = "generic"}> ({
      %0 = "arith.constant"() <{value = 0 : i8}> : () -> i8
      %1 = "arith.constant"() <{value = 4 : i8}> : () -> i8
      %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
      %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
      %c3 = "arith.constant"() <{value = 3 : index}> : () -> index
      "xegpu.alloc_nbarrier"() <{nbarrier_num = 1 : i64}> : () -> ()
      %2 = "xegpu.init_nbarrier"(%0, %1) : (i8, i8) -> !xegpu.nbarrier
      "scf.for"(%c0, %c3, %c1) ({
      ^bb0(%i: index):
        "xegpu.nbarrier_arrive"(%2) : (!xegpu.nbarrier) -> ()
        "xegpu.fence"() <{fence_scope = #xegpu.fence_scope<workgroup>, memory_kind = #xegpu.memory_kind<slm>}> : () -> ()
        "xegpu.nbarrier_wait"(%2) : (!xegpu.nbarrier) -> ()
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "gpu.return"() : () -> ()
    }) {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>, workgroup_attributions = 0 : i64} : () -> ()

    // What nobody has heard of may do anything.
    // expect unheard: inconclusive
    gpu.func @unheard() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      quantum.swap
      gpu.barrier
      gpu.return
    }

    // A handle that is chosen is not followed.
    // expect chosen: inconclusive
    gpu.func @chosen(%flag: i1) kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : i8
      %c1 = arith.constant 1 : i8
      %c4 = arith.constant 4 : i8
      xegpu.alloc_nbarrier 2
      %a = xegpu.init_nbarrier %c0, %c4 : i8, i8 -> !xegpu.nbarrier
      %b = xegpu.init_nbarrier %c1, %c4 : i8, i8 -> !xegpu.nbarrier
      %nb = arith.select %flag, %a, %b : !xegpu.nbarrier
      xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
      xegpu.nbarrier_wait %nb : !xegpu.nbarrier
      gpu.return
    }

    // A loop that goes on while the count is below what the index says.
    // expect unlike: violated deadlock
    gpu.func @unlike() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %sg = gpu.subgroup_id : index
      %end = affine.apply affine_map<(d0) -> (d0 floordiv 2 + 1)>(%sg)
      %last = scf.while (%k = %c0) : (index) -> index {
        %more = arith.cmpi slt, %k, %end : index
        scf.condition(%more) %k : index
      } do {
      ^bb0(%k: index):
        func.call @meet() : () -> ()
        %next = arith.addi %k, %c1 : index
        scf.yield %next : index
      }
      gpu.return
    }
    func.func @meet() {
      gpu.barrier
      return
    }

    // Threads are lanes of subgroups here.
    // expect by_lane: verified assumed
    gpu.func @by_lane(%flag: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %lane = gpu.lane_id
      %c0 = arith.constant 0 : i8
      %c8 = arith.constant 8 : i8
      xegpu.alloc_nbarrier 1
      %nb = xegpu.init_nbarrier %c0, %c8 : i8, i8 -> !xegpu.nbarrier
      xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
      xegpu.nbarrier_wait %nb : !xegpu.nbarrier
      gpu.return
    }

    // The sum that a loop makes is 4, so that nobody goes to the barrier.
    // expect sum_of_a_loop: verified
    gpu.func @sum_of_a_loop() kernel attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c5 = arith.constant 5 : index
      %b1 = arith.constant 1 : i8
      %b4 = arith.constant 4 : i8
      %tid = gpu.thread_id x
      xegpu.alloc_nbarrier 8
      %nb = xegpu.init_nbarrier %b1, %b4 : i8, i8 -> !xegpu.nbarrier
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %c1) -> (index) {
        %next = arith.addi %u, %c1 : index
        scf.yield %next : index
      }
      %is_more = arith.cmpi uge, %sum, %c5 : index
      %is_other = arith.cmpi ne, %tid, %c0 : index
      scf.if %is_more {
        scf.if %is_other {
          xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
          xegpu.nbarrier_wait %nb : !xegpu.nbarrier
        }
      }
      gpu.return
    }

    // Its size is that with which the host launches it.
    // expect launched: verified
    gpu.func @launched() kernel attributes {VectorComputeFunctionINTEL} {
      %c0 = arith.constant 0 : i8
      %c6 = arith.constant 6 : i8
      xegpu.alloc_nbarrier 1
      %nb = xegpu.init_nbarrier %c0, %c6 : i8, i8 -> !xegpu.nbarrier
      xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
      xegpu.nbarrier_wait %nb : !xegpu.nbarrier
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    gpu.launch_func @kernels::@launched blocks in (%c1, %c1, %c1) threads in (%c3, %c2, %c1)
    return
  }
}
