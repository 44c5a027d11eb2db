import ArgumentParser

/// What both steps of a transfer take.
struct TransferOptions: ParsableArguments {
    @Option(help: "How many accounts to ask for in a second, at most.")
    var perSecond = 10

    @Flag(help: "Count, ask for one account, and write nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...1000).contains(perSecond) else { throw ValidationError("--per-second takes 1 to 1000.") }
    }
}
