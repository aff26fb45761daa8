//! Every protocol of the kernel: one line each.

mod ping_pong {
    barcheck::gate!("protocols/ping_pong.bar");
}

mod ring {
    barcheck::gate!("protocols/ring.bar", define("TILES", 3), seconds(10.0));
}
