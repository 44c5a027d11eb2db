/// There was no connection to run a block on, so nothing of it has run.
struct MissingConnection: Error {
    let cause: any Error
}
