//! Every protocol of the kernel: one line each.

mod ping_pong {
    barcheck::gate!("protocols/ping_pong.bar");
}

mod ring {
    barcheck::gate!("protocols/ring.bar", define("TILES", 3), seconds(10.0));
}

/// The compiled kernel itself: its barriers are taken from the PTX.
mod softmax_tiles {
    barcheck::gate!("kernels/tiles.ptx", entry = "softmax_tiles", cta = 128, param("2", 3), seconds = 10.0);
}
