import AppleIdentity
import AsyncHTTPClient
import Foundation
import HTTPAPI
import JOSE
import NIOCore
import NIOSSL
import OAuthLogin
import ScriptedHTTP
import TestSupport
import Testing
import TokenMint

@testable import AppleEmulator
@testable import AppleIDClient
@testable import Composition
@testable import siwa

/// By how much the clock of this machine may differ from Apple's, in each direction, and what operators read
/// about it.
@Suite struct ClockBoundsTests {
    private static let apple = TokenMint.sampleTime
    private static let leeway = VerificationPolicy.usualLeeway
    private static let backdating = ClientSecretCache.backdating
    private static let day: Int64 = 86_400

    /// Returns the code with which a new token and a new notification of Apple are refused.
    private static func refusal(ahead: Int64) throws -> AppleTokenError.Code? {
        let policy = VerificationPolicy(clientIDs: [TokenMint.clientID])
        let now = NumericDate(clampingSecondsSince1970: apple + ahead)
        let key = try TokenMint.shared.privateKey.publicKey()
        func code(_ verify: () throws -> Void) throws -> AppleTokenError.Code? {
            do {
                try verify()
                return nil
            } catch let error as AppleTokenError {
                return error.code
            }
        }
        let token = try UnverifiedToken(TokenMint.shared.sign(TokenMint.identityClaims(at: apple)))
        let notification = try UnverifiedToken(TokenMint.shared.sign(TokenMint.notificationClaims(at: apple)))
        let codes = [
            try code {
                _ = try IdentityTokenVerifier(policy: policy).verify(
                    token, with: key, expecting: IdentityTokenExpectations(), at: now)
            },
            try code {
                _ = try NotificationVerifier(policy: policy).verify(notification, with: key, at: now)
            },
        ]
        #expect(codes[0] == codes[1])
        return codes[0]
    }

    @Test(
        arguments: [
            (-leeway, nil), (-leeway - 1, .issuedInFuture), (-600, .issuedInFuture), (leeway + 1, nil),
            (day + leeway - 1, nil), (day + leeway, .tokenExpired),
        ] as [(Int64, AppleTokenError.Code?)])
    func `a slow clock refuses new tokens and notifications, and a fast one after a day`(
        ahead: Int64, code: AppleTokenError.Code?
    ) throws { #expect(try Self.refusal(ahead: ahead) == code) }

    /// Signs a client secret, and shows it to Apple `age` seconds later.
    private static func isAccepted(ahead: Int64, age: Int64 = 0) throws -> Bool {
        let key = try ClientKey.generate(teamID: "A1B2C3D4E5", keyID: "K1L2M3N4O5")
        let signing = try ClientSigningKey(keyID: key.keyID, pem: try #require(key.privateKeyPEM))
        let clock = ManualClock(millisecondsSince1970: (apple + ahead - age) * 1000)
        let secrets = SignedClientSecrets(
            teams: ["com.example.app": key.teamID], keys: OneKey(key: signing),
            secondsSince1970: { clock.secondsSince1970 })
        let first = try secrets.secrets(for: "com.example.app")
        clock.secondsSince1970 += age
        let secret = try #require(try secrets.secrets(for: "com.example.app").first)
        // A secret that is still kept is the one that is tried.
        #expect((first.first == secret) == (age < ClientSecretCache.life - ClientSecretCache.reserve))
        let check = ClientSecretCheck(
            clientID: "com.example.app", teamIDs: [key.teamID], keys: try ClientKeyRing([key]), now: apple)
        do throws(OAuthError) {
            _ = try check.check(try AppleEmulator.ClientSecret(secret.text))
            return true
        } catch {
            return false
        }
    }

    private struct OneKey: SigningKeySource {
        let key: ClientSigningKey

        func keys(ofTeam team: String) -> [ClientSigningKey] { [key] }
    }

    @Test func `Apple refuses client secrets of a fast clock, and of a very slow one those that were kept`()
        throws
    {
        #expect(try Self.isAccepted(ahead: Self.backdating))
        #expect(try !Self.isAccepted(ahead: Self.backdating + 1))
        let oldest = ClientSecretCache.life - ClientSecretCache.reserve - 1
        #expect(try Self.isAccepted(ahead: -ClientSecretCache.reserve, age: oldest))
        #expect(try !Self.isAccepted(ahead: -ClientSecretCache.reserve - 1, age: oldest))
        #expect(try Self.isAccepted(ahead: -ClientSecretCache.life + 1))
        #expect(try !Self.isAccepted(ahead: -ClientSecretCache.life))
    }

    @Test func `the page, the alert and the warning state these bounds`() throws {
        #expect(ServiceWarnings.refusingClock == Self.leeway && Self.leeway == Self.backdating)
        #expect(ServiceWarnings.wrongClock < Self.leeway)
        let docs = ProjectFolder.root.appendingPathComponent("docs")
        func lines(_ file: String, _ word: String) throws -> [Substring] {
            try String(contentsOf: docs.appendingPathComponent(file), encoding: .utf8).split(separator: "\n")
                .filter { $0.contains(word) && $0.contains(" slow ") }
        }
        let statements =
            try lines("monitoring.md", "`clock_wrong`") + lines("monitoring.md", "`SiwaClockWrong`")
            + lines("monitoring/alerts.yaml", "description")
            + lines("monitoring/alerts-test.yaml", "description")
        #expect(statements.count == 4)
        for statement in statements {
            #expect(
                statement.contains("slow by more than \(Self.leeway) seconds, siwa refuses"), "\(statement)")
            #expect(
                statement.contains("fast by more than \(Self.backdating) seconds, Apple refuses"),
                "\(statement)")
        }
        let warning = try #require(statements.first)
        #expect(warning.contains("by \(ServiceWarnings.wrongClock) seconds or more"))
        let runbook = statements[1]
        #expect(runbook.contains("from \(ClientSecretCache.reserve / 60) minutes on Apple refuses"))
        #expect(runbook.contains("until it is fast by a day and a minute"))
    }
}

@Suite struct CheckSettingsTests {
    @Test func `the defaults are a day and 25 per second`() async throws {
        let settings = try await SettingsReaderTests.read()
        #expect(settings.numbers[.checkInterval] == 86_400)
        #expect(settings.numbers[.checksPerSecond] == 25)
    }

    @Test func `are read`() async throws {
        let settings = try await SettingsReaderTests.read(with: [
            "SIWA_CHECK_INTERVAL": "172800", "SIWA_CHECKS_PER_SECOND": "100",
        ])
        #expect(settings.numbers[.checkInterval] == 172_800)
        #expect(settings.numbers[.checksPerSecond] == 100)
    }

    @Test func `less than a day is for development only, because Apple throttles it`() async throws {
        #expect(
            try await SettingsReaderTests.mistakes(["SIWA_CHECK_INTERVAL": "86399"]) == [
                "SIWA_CHECK_INTERVAL"
            ])
        let development = ["SIWA_CHECK_INTERVAL": "5", "SIWA_ENV": "development"]
        #expect(try await SettingsReaderTests.mistakes(development).isEmpty)
    }

    @Test(arguments: [
        ("SIWA_CHECK_INTERVAL", "0"), ("SIWA_CHECK_INTERVAL", "-1"), ("SIWA_CHECK_INTERVAL", "24h"),
        ("SIWA_CHECK_INTERVAL", "2592001"), ("SIWA_CHECK_INTERVAL", "99999999999999999999"),
        ("SIWA_CHECKS_PER_SECOND", "0"), ("SIWA_CHECKS_PER_SECOND", "1001"),
        ("SIWA_CHECKS_PER_SECOND", "2.5"),
    ])
    func `any other value is a mistake`(name: String, value: String) async throws {
        let development = [name: value, "SIWA_ENV": "development"]
        #expect(try await SettingsReaderTests.mistakes(development) == [name])
    }
}

/// Servers that send more around a body than a response has, to each of our HTTP clients.
@Suite(.timeLimit(.minutes(2))) struct OutgoingBoundsTests {
    enum Client: String, CaseIterable {
        /// Apple's endpoints, Google's endpoints, Google's events, and the probes of `siwa doctor`.
        case apple
        case webhook, traces, login, healthcheck

        /// Sends one request, and reads the whole response.
        func ask(_ server: ScriptedServer) async throws {
            switch self {
            case .apple: try await Self.get(server, .apple())
            case .login: try await Self.get(server, LoginTransport.configuration)
            case .healthcheck: try await Self.get(server, Healthcheck.client)
            case .webhook:
                let connections = PinnedConnections(
                    host: "127.0.0.1", rule: HTTPEventDestinationTests.loopback,
                    resolver: ScriptedResolver(["127.0.0.1"]), tls: .makeClientConfiguration())
                let result = await Result { try await Self.get(server, try await connections.client()) }
                await connections.close()
                try result.get()
            case .traces:
                let collector = HTTPTraceCollector(
                    TraceSettings(url: "\(server.baseURL)/v1/traces", headers: [:], ratio: 1, service: "test")
                )
                let result = await Result { try await Self.get(server, collector.client) }
                try? await collector.client.shutdown()
                try result.get()
            }
        }

        private static func get(
            _ server: ScriptedServer, _ configuration: HTTPClient.Configuration
        ) async throws {
            try await HTTPClient.withHTTPClient(configuration: configuration) { try await get(server, $0) }
        }

        private static func get(_ server: ScriptedServer, _ client: HTTPClient) async throws {
            let response = try await client.execute(
                HTTPClientRequest(url: server.baseURL), timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
        }
    }

    static let interim = "HTTP/1.1 100 Continue\r\n\r\n"
    static let field = "x-field: \(String(repeating: "a", count: 1000))\r\n"

    /// A beginning and what follows it without end.
    static let floods: [(begin: String, chunk: String)] = [
        (interim, interim), (interim, String(repeating: interim, count: 2000)),
        ("HTTP/1.1 103 Early Hints\r\n", field), ("HTTP/1.1 200 OK\r\n", field),
        ("HTTP/1.1 200 OK\r\nx-field: ", String(repeating: "a", count: 1000)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", String(repeating: "a", count: 1000)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", field),
    ]

    @Test(arguments: Client.allCases, floods.indices)
    func `what a server sends beside a body is bounded`(client: Client, flood: Int) async throws {
        let (begin, chunk) = Self.floods[flood]
        let server = try await ScriptedServer(
            always: .sendForever(begin, chunk: chunk, pause: .microseconds(100)))
        do {
            try await client.ask(server)
            Issue.record("a response without end was read")
        } catch let error as HTTPClientError {
            #expect(error != .deadlineExceeded && error != .readTimeout)
        } catch {
            // The bound, or that of the decoder.
        }
        try await server.close()
    }

    @Test(
        arguments: Client.allCases,
        [interim + interim + "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", ""])
    func `a usual response is read, also with interim responses and 300 KB in small chunks`(
        client: Client, before: String
    ) async throws {
        let chunk = "400\r\n\(String(repeating: "b", count: 1024))\r\n"
        let server = try await ScriptedServer(
            always: .send(
                before + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(Self.field)\r\n"
                    + String(repeating: chunk, count: 300) + "0\r\n\r\n"))
        try await client.ask(server)
        try await server.close()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
