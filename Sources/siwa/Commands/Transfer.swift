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
