import AppleAccounts
import ArgumentParser
import KeySets

/// `siwa transfer apply`
struct TransferApply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Ask Apple who the accounts of a prepared file are now, and move them.",
        discussion: """
            For the team that takes the app over, with its own configuration. What Apple answers is kept in FILE.results, so \
            that nobody is asked for twice. Then the accounts are moved; on SQLite the service must be stopped for that. \
            Accounts that failed are listed in FILE.failures and tried again the next time; if they sign in before, they are \
            found by their token. Ends with status 0 when every account of the file was moved.
            """)

    @Argument(help: "The file that siwa transfer prepare has written.", completion: .file())
    var file: String

    @OptionGroup var options: TransferOptions

    func run() async throws {
        let settings = try await ServiceSettings.ofProcess()
        try await TransferReport.ending(on: settings.database) {
            // Before anybody is asked for.
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
                try await application.move(in: store) { bar.advance(by: $0) }
            }
            bar.end()
            let failures = asked.failures + moved.failures
            try LineFile.replace("\(file).failures", with: failures.map(\.json))
            return TransferReport(asked, moved: moved, file: file)
        }
    }
}
