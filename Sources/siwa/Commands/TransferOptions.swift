import ArgumentParser

/// The options of both steps of a transfer.
struct TransferOptions: ParsableArguments {
    @Option(help: "The largest number of requests to Apple per second.")
    var perSecond = 10

    @Flag(help: "Count the accounts, send the request for one of them, and write nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...1000).contains(perSecond) else { throw ValidationError("--per-second must be 1 to 1000.") }
    }
}
