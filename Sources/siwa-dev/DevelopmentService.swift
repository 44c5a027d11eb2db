import AppAttestation
import AppleEmulator
import AuthorizationServer
import Composition
import Console
import EmulatorServer
import Foundation
import GoogleEmulator
import HTTPAPI
import Logging
import ReceiverEmulator
import ServiceLifecycle

/// The service that `siwa dev` runs, with a fake Apple and a fake Google in the same process.
struct DevelopmentService: Service {
    struct Options: Sendable {
        let clientIDs: [String]
        let host: String
        /// The service's port; 0 if the system chooses it.
        let port: Int
        /// Database path; `nil` for a temporary database.
        let database: String?
        let checkInterval: Duration
        let appCheck: AppCheckMode
        /// Redirect URL for sign-in on the web; `nil` selects one of the fake Apple's pages.
        let webRedirectURL: String?
        let allowedHosts: [String]
    }

    let emulator: EmulatedApple
    /// The fake Google; `nil` if there are no OAuth clients.
    let google: GoogleEmulatorService?
    let receivers: ReceiverEmulatorService
    /// PEM certificate of the authority that issued the receivers' certificate.
    let authority: String
    let observation: ProcessObservation
    let options: Options
    /// User IDs of the people to sign in when the service starts.
    var arrivals: [String] = []

    /// Runs the service. Also throws errors of the fake Apple and the fake Google.
    func run() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-dev-\(UUID().uuidString)")
        let applePort = try await emulator.port()
        let googlePort = try await google?.port()
        let receivers = DevelopmentReceivers(
            port: try await receivers.port(), securePort: try await receivers.securePort() ?? 0,
            authority: authority)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var development = try settings(applePort: applePort, googlePort: googlePort, directory: directory)
        development.receivers = receivers
        let settings = try development.settings()
        let world = DevelopmentFakes(
            apple: emulator, google: google, receivers: self.receivers, clientIDs: options.clientIDs,
            secret: DevelopmentSettings.secret)
        let pages = WorldPages(world: world)
        let startPage = DevelopmentStartPage(
            applePort: applePort, googlePort: googlePort, receiverPort: receivers.port,
            clientIDs: options.clientIDs)
        let service = try await ComposedService(
            settings: settings, observation: observation, signals: [],
            development: DevelopmentConsole(
                pages: [startPage.page] + pages.pages,
                card: pages.overviewCard, observe: world.observe))
        let issuer = settings.oauth?.issuer.text
        self.receivers.state.connect(
            to: DevelopmentReceivers.sender(of: service, issuer: issuer),
            urls: receivers.urls(signsEvents: issuer != nil))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            group.addTask { try await introduce(service, world, startPage) }
            // A failure does not cancel the group, so that the service can stop in the right order.
            var failure: (any Error)?
            while let result = await group.nextResult() {
                guard case .failure(let error) = result else { continue }
                failure = failure ?? error
                await service.stop()
            }
            if let failure { throw failure }
        }
    }

    /// Signs in people from the seed file, one after the other.
    private func signIn(_ subjects: [String], with world: DevelopmentFakes) async {
        for subject in subjects where !Task.isCancelled {
            do {
                _ = try await world.signInOnPhone(subject)
            } catch {
                let reason = (error as? EmulatorError)?.sentence ?? "\(error)"
                observation.logger.warning(
                    "a person of the seed could not sign in", metadata: ["error": "\(reason)"])
            }
        }
    }

    /// Configures the service's URLs in the fake Apple and the fake Google, and prints the banner.
    private func introduce(
        _ service: ComposedService, _ world: DevelopmentFakes, _ startPage: DevelopmentStartPage
    ) async throws {
        // If the service cannot listen, it throws the error itself.
        guard let port = try? await service.boundPort() else { return }
        world.connect(to: "http://127.0.0.1:\(port)")
        try emulator.state.configureRedirectURIs(
            ["127.0.0.1", "localhost"].map { "http://\($0):\(port)/v1/web/callback" },
            of: options.clientIDs[0])
        try emulator.state.setNotificationURL("http://127.0.0.1:\(port)/v1/apple/notifications")
        google?.state.connect(
            to: LinkedServer(issuer: "http://127.0.0.1:\(port)"),
            appleURL: "http://127.0.0.1:\(startPage.applePort)")
        await cancelWhenGracefulShutdown {
            await service.waitForKeys()
            await receivers.state.fetchKeys()
        }
        await cancelWhenGracefulShutdown { await signIn(arrivals, with: world) }
        guard !Task.isShuttingDownGracefully else { return }
        let banner = startPage.banner(servicePort: port, isPermanent: options.database != nil)
        // Written unbuffered, so that the text appears immediately even in a pipe.
        try FileHandle.standardOutput.write(contentsOf: Data(banner.utf8))
    }

    private func settings(
        applePort: Int, googlePort: Int?, directory: URL
    ) throws -> DevelopmentSettings {
        let redirectURIs = google?.state.redirectURIs ?? []
        return try DevelopmentSettings(
            clientIDs: options.clientIDs, port: options.port, applePort: applePort,
            secret: DevelopmentSettings.secret,
            database: options.database ?? "sqlite://\(directory.path)/siwa.sqlite",
            signingKey: signingKey(), checkInterval: options.checkInterval,
            appCheckMode: options.appCheck,
            webRedirectURL: options.webRedirectURL ?? "http://127.0.0.1:\(applePort)/site",
            host: options.host, allowedHosts: options.allowedHosts,
            google: googlePort.map { DevelopmentSettings.Google(port: $0, redirectURIs: redirectURIs) })
    }

    /// Returns an earlier run's key from the fake Apple's state, or a new key if there is none.
    private func signingKey() throws -> ClientKey {
        let team = DevelopmentSettings.team
        if let old = emulator.state.clientKeys.last(where: { $0.teamID == team && $0.privateKeyPEM != nil }) {
            // The key is configured again, because a reset of the fake Apple would otherwise remove it.
            try emulator.state.configureClientKey(old)
            return old
        }
        let key = try ClientKey.generate(teamID: team)
        try emulator.state.configureClientKey(key)
        return key
    }
}
