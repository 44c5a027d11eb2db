import AppleAccounts
import AppleIDClient
import ArgumentParser

/// `siwa transfer prepare`
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
