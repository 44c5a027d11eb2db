import ArgumentParser

/// `siwa transfer`
struct Transfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take an app's users along when it changes teams.",
        discussion: """
            The sending team prepares a file, before or up to 60 days after the transfer is accepted; the receiving team \
            applies it. Accounts keep their IDs, names and history; their sub and relay address change. Both steps can be \
            stopped and run again.
            """,
        subcommands: [TransferPrepare.self, TransferApply.self])
}
