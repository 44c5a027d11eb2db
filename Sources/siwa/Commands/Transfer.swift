import ArgumentParser

/// `siwa transfer`
struct Transfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Transfer the users of an app to another team.",
        discussion: """
            The sending team prepares a file, before the transfer is accepted or up to 60 days later; the \
            receiving team applies it. Accounts keep their IDs, names and history; their sub and relay \
            address change. Both steps can be interrupted and run again.
            """,
        subcommands: [TransferPrepare.self, TransferApply.self])
}

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
