import AppleAccounts
import AppleIDClient
import ArgumentParser
import Composition
import KeySets

/// The `siwa transfer` command.
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

/// Options shared by both transfer steps.
struct TransferOptions: ParsableArguments {
    @Option(help: "The largest number of requests to Apple per second.")
    var perSecond = 10

    @Flag(help: "Count the accounts, send the request for one of them, and write nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...1000).contains(perSecond) else { throw ValidationError("--per-second must be 1 to 1000.") }
    }
}

/// The `siwa transfer prepare` command.
struct TransferPrepare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract:
            "Request the transfer identifiers of an app's accounts from Apple, and write them to a file.",
        discussion: """
            For the sending team, with its own configuration. The service may be running. The file contains \
            personal data. Accounts that Apple refuses are listed in FILE.failures and tried again in the \
            next run. The exit status is 0 when the file has every account.
            """)

    @Argument(help: "The file to create or to continue (JSON Lines).", completion: .file())
    var file: String

    @Option(help: "The team that receives the app.")
    var to: String

    @Option(
        name: .customLong("client-id"),
        help: "A client ID of the app. Required when the configuration has several apps.")
    var clientID: String?

    @OptionGroup var options: TransferOptions

    func validate() throws {
        guard TeamID(to) != nil, ClientSigningKey.isKeyID(to) else {
            throw ValidationError("--to must be a team ID: 10 capital letters and digits.")
        }
    }

    func run() async throws {
        let settings = try await ServiceSettings.ofProcess()
        guard let recipient = TeamID(to), let app = app(in: settings.deployment), app.team != recipient else {
            ErrorMessage.write(
                "--client-id must name an app of the configuration, and --to a team other than the app's.")
            throw ExitCode.failure
        }
        try await TransferReport.ending(on: settings.database) {
            try await settings.database.checkPresence()
            if !options.dryRun {
                try await settings.database.noteExport(
                    .accountsExported,
                    detail: "\(app.primaryClientID.rawValue) to team \(recipient.rawValue)",
                    command: "transfer prepare")
            }
            let inspection = try settings.database.inspection()
            let outcome = try await settings.withAppleClient { apple in
                let preparation = TransferPreparation(
                    app: app, recipientTeam: recipient, output: file, apple: apple,
                    perSecond: options.perSecond,
                    clock: ContinuousClock()
                ) { last in
                    try await inspection.accounts(
                        team: app.team, clientID: app.primaryClientID, after: last, limit: 1000)
                }
                return try await ProgressBar.shown("asking Apple") { begin, progress in
                    try await preparation.run(isDryRun: options.dryRun, begin: begin, progress: progress)
                }
            }
            await inspection.close()
            return TransferReport(outcome, file: file, isDryRun: options.dryRun)
        }
    }

    private func app(in deployment: Deployment) -> App? {
        guard let clientID else { return deployment.apps.count == 1 ? deployment.apps.first : nil }
        return ClientID(clientID).flatMap { deployment.app(for: $0) }
    }
}

/// The `siwa transfer apply` command.
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
            // Checks the database before the first request to Apple.
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
