import AppleAccounts
import ArgumentParser
import KeySets

/// `siwa transfer apply`
struct TransferApply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract:
            "Request the new identifiers of the accounts in a prepared file from Apple, and move the accounts.",
        discussion: """
            For the receiving team, with its own configuration. Apple's responses are stored in \
            FILE.results, so that no request is repeated. Then the accounts are moved; with SQLite, the \
            service must be stopped for that. Failed accounts are listed in FILE.failures and tried again in \
            the next run; if their users sign in before, the service finds them by their token. The exit \
            status is 0 when every account of the file was moved.
            """)

    @Argument(help: "The file that siwa transfer prepare wrote.", completion: .file())
    var file: String

    @OptionGroup var options: TransferOptions

    func run() async throws {
        let settings = try await ServiceSettings.ofProcess()
        try await TransferReport.ending(on: settings.database) {
            // Before the first request to Apple.
            try await settings.database.checkPresence()
            let application = try TransferApplication(
                path: file, deployment: settings.deployment, perSecond: options.perSecond,
                clock: ContinuousClock(),
                now: Moment(milliseconds: SystemKeySetClock().millisecondsSince1970))
            let asked = try await settings.withAppleClient { apple in
                try await ProgressBar.shown("asking Apple") { begin, progress in
                    try await application.ask(
                        apple, isDryRun: options.dryRun, begin: begin, progress: progress)
                }
            }
            guard !options.dryRun else { return TransferReport(asked, moved: nil, file: file) }
            let bar = ProgressBar(title: "moving", total: application.lines.count)
            let moved = try await OpenedDatabase.with(settings) { store in
                try await AuditOrigin.$current.withValue(AuditOrigin(.command("transfer apply"))) {
                    try await application.move(in: store) { bar.advance(by: $0) }
                }
            }
            bar.end()
            let failures = asked.failures + moved.failures
            try LineFile.replace("\(file).failures", with: failures.map(\.json))
            return TransferReport(asked, moved: moved, file: file)
        }
    }
}
