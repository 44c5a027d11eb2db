/// One bell for each worker, rung when a commit of this process has made work for it.
struct WorkerBells: Sendable {
    let exchange = Doorbell()
    let check = Doorbell()
    let erasure = Doorbell()
}
