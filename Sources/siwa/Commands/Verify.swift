import AppAttestation
import AppleAccounts
import AppleIDClient
import AppleIdentity
import ArgumentParser
import AsyncHTTPClient
import AuthorizationServer
import Composition
import Foundation
import Inspection
import KeySets
import StrictJSON

/// The `siwa verify` command.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Verify one token of Apple's or of this service, or one object of App Attest, and print the result of each check and the content.",
        discussion: """
            Runs the checks of the service, in the same order, on a token from a log or a bug report, and goes \
            on past the first check that fails, as the inspector of the console does. \
            Nothing is stored, and nothing is sent except the request for Apple's keys. The exit status is 0 \
            when the token is accepted, 1 when it is refused, and 2 when the keys are not available.

              siwa verify --client-id com.example.app < token.txt
              siwa verify --kind attestation --team-id A1B2C3D4E5 \\
                --bundle-id com.example.app --environment production \\
                --key-id KEY_ID --challenge CHALLENGE < attestation.txt
              siwa verify --kind access-token \\
                --issuer https://signin.example.com < token.txt
              siwa verify --kind refresh-token --database < token.txt

            A token on the command line is visible to other users of the machine and stays in the shell's \
            history: pass it on standard input. The same is true for valid codes and access tokens.
            """)

    @Argument(
        help: "The token in its compact form, or the object in base64; - reads it from standard input.")
    var token = "-"

    @Option(
        name: .customLong("client-id"),
        help: "An accepted audience of the token. Can be repeated. Required for Apple's tokens."
    )
    var clientIDs: [String] = []

    @Option(help: "Read the keys from this file.", completion: .file())
    var jwks: String?

    @Option(
        name: .customLong("jwks-url"),
        help: "Fetch the keys from this URL instead of from Apple, or from the issuer.")
    var keySetURL: String?

    @Option(help: "The raw nonce of the sign-in, to be compared with the nonce claim.")
    var nonce: String?

    @Option(help: "The authorization code that came with the token, to be compared with c_hash.")
    var authorizationCode: String?

    @Option(help: "The access token that came with the token, to be compared with at_hash.")
    var accessToken: String?

    @Option(
        help:
            "The kind of input: identity-token or notification of Apple's; attestation or assertion; access-token, id-token, refresh-token, authorization-code, device-code, user-code or security-event of this service."
    )
    var kind = InspectedKind.token(.identityToken)

    @OptionGroup(title: "App Attest")
    var attestation: AttestationOptions

    @OptionGroup(title: "Tokens of this service")
    var issued: IssuedTokenOptions

    @Option(help: "Verify the input as of this time (RFC 3339) instead of now.")
    var at: Moment?

    /// Accepted for scripts written for earlier versions. All checks run without it too.
    @Flag(help: .hidden)
    var all = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        switch kind {
        case .token(let kind): try validateToken(kind)
        case .object(let kind): try validateObject(kind)
        case .issued(let kind): try validateIssued(kind)
        }
    }

    private func validateIssued(_ kind: IssuedTokenKind) throws {
        try issued.check(kind)
        if jwks != nil, keySetURL != nil { throw ValidationError("Give --jwks or --jwks-url, not both.") }
        if authorizationCode != nil || !attestation.isEmpty {
            throw ValidationError(
                "--authorization-code and options of App Attest are for other kinds of input.")
        }
        if kind != .idToken, nonce != nil || accessToken != nil {
            throw ValidationError("--nonce and --access-token are for ID tokens.")
        }
        if kind.isOpaque, jwks != nil || keySetURL != nil || !clientIDs.isEmpty {
            throw ValidationError("A refresh token or a code has no signature and no audience.")
        }
    }

    private func validateToken(_ kind: TokenKind) throws {
        if clientIDs.isEmpty { throw ValidationError("Give --client-id, the audience of the token.") }
        if jwks != nil, keySetURL != nil { throw ValidationError("Give --jwks or --jwks-url, not both.") }
        if kind == .notification, nonce != nil || authorizationCode != nil || accessToken != nil {
            throw ValidationError("A notification has no nonce, no code and no access token.")
        }
        if clientIDs.contains(where: \.isEmpty) { throw ValidationError("--client-id must not be empty.") }
        if !issued.isEmpty {
            throw ValidationError("--issuer and --database are for tokens of this service.")
        }
        if !attestation.isEmpty {
            throw ValidationError("Options of App Attest need --kind attestation or --kind assertion.")
        }
    }

    private func validateObject(_ kind: AppAttestationKind) throws {
        let ofTokens = [jwks, keySetURL, nonce, authorizationCode, accessToken, issued.issuer]
        if !clientIDs.isEmpty || ofTokens.contains(where: { $0 != nil }) {
            throw ValidationError(
                "--client-id, --jwks, --jwks-url, --nonce, --authorization-code and --access-token are for tokens."
            )
        }
        _ = try attestation.inspection(of: kind, at: .last)
    }

    func run() async throws {
        let text =
            token == "-"
            ? String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines) : token
        let moment = at ?? Moment(milliseconds: SystemKeySetClock().millisecondsSince1970)
        switch kind {
        case .token(let kind): try await verify(text, of: kind, at: moment)
        case .object(let kind):
            let report = try attestation.inspection(of: kind, at: moment).inspect(text)
            show(report.form)
            if report.error != nil { throw ExitCode(1) }
        case .issued(let kind): try await verify(text, of: kind, at: moment)
        }
    }

    private func verify(_ text: String, of kind: IssuedTokenKind, at moment: Moment) async throws {
        let inspection = IssuedTokenInspection(
            kind: kind, issuer: issued.issuer, audiences: clientIDs, nonce: nonce, accessToken: accessToken,
            moment: moment)
        let keys = InspectionKeys(file: jwks, url: keySetURL ?? issued.keySetURL)
        let report: CheckReport
        if issued.readsDatabase {
            let settings = try await ServiceSettings.ofProcess()
            do {
                report = try await OpenedDatabase.with(settings) { store in
                    await inspection.inspect(
                        text, keys: keys, family: { try await store.status(ofFamily: $0) },
                        codes: { try await store.find($0) })
                }
            } catch let error as MissingDatabase {
                ErrorMessage.write(error.description)
                throw ExitCode(2)
            } catch let error as StorageError {
                ErrorMessage.write("siwa verify has failed: \(ErrorMessage.text(for: error))")
                throw ExitCode(2)
            }
        } else {
            report = await inspection.inspect(text, keys: keys)
        }
        show(report)
        switch report.verdict {
        case .accepted: break
        case .refused: throw ExitCode(1)
        case .undecided: throw ExitCode(2)
        }
    }

    private func verify(_ text: String, of kind: TokenKind, at moment: Moment) async throws {
        let inspection = TokenInspection(
            kind: kind, policy: VerificationPolicy(clientIDs: clientIDs),
            expectations: IdentityTokenExpectations(
                nonce: nonce, authorizationCode: authorizationCode, accessToken: accessToken),
            moment: moment)
        let source = InspectionKeys(file: jwks, url: keySetURL)
        let report = await inspection.inspect(text, keys: source)
        show(report.form)
        switch report.verdict {
        case .accepted: break
        case .refused: throw ExitCode(1)
        case .undecided: throw ExitCode(2)
        }
    }

    private func show(_ report: CheckReport) {
        print(json ? report.json : report.text(in: TerminalStyle.layout))
    }
}

/// The options of `siwa verify` for tokens issued by this service.
struct IssuedTokenOptions: ParsableArguments {
    @Option(help: "The issuer of the token, as its service has it: SIWA_PUBLIC_URL or oauth.issuer.")
    var issuer: String?

    @Flag(
        name: .customLong("database"),
        help:
            "Look the token family up in the database of this machine's configuration. A SQLite file that the service has open cannot be read."
    )
    var readsDatabase = false

    var isEmpty: Bool { issuer == nil && !readsDatabase }

    /// Throws `ValidationError` for a missing option, or for an option that belongs to another kind.
    func check(_ kind: IssuedTokenKind) throws {
        switch kind {
        case .refreshToken, .authorizationCode, .deviceCode, .userCode:
            if issuer != nil {
                throw ValidationError("A \(kind.rawValue) names no issuer; leave --issuer out.")
            }
        case .accessToken, .idToken, .securityEvent:
            if issuer == nil { throw ValidationError("Give --issuer, the issuer of the token.") }
        }
        if readsDatabase, !kind.checks.contains(.family), !kind.checks.contains(.code) {
            throw ValidationError("--database is for access tokens, refresh tokens and codes.")
        }
    }

    /// The URL of the issuer's key set.
    var keySetURL: String? {
        guard let issuer else { return nil }
        return issuer.hasSuffix("/") ? "\(issuer)oauth/jwks.json" : "\(issuer)/oauth/jwks.json"
    }
}

/// The source of the keys for `siwa verify`: a file, a URL, or Apple.
struct InspectionKeys: InspectedKeySource {
    let file: String?
    let url: String?

    func appleKeys() async throws(KeysUnavailable) -> InspectedKeys {
        let keys = try await load()
        return InspectedKeys(keys, keyIDs: keys.keyIDs)
    }

    func issuerKeys() async throws(KeysUnavailable) -> [JSONValue] {
        let bytes = try await read()
        guard let entries = (try? JSONValue(parsing: bytes))?["keys"]?.array else {
            throw KeysUnavailable(description: "the key set is not a JSON Web Key Set")
        }
        return entries
    }

    private func load() async throws(KeysUnavailable) -> PinnedKeySet {
        if let file {
            do throws(PinnedKeySetError) {
                return try PinnedKeySet(file: file)
            } catch {
                throw KeysUnavailable(
                    description: "the key set in \(file) cannot be used (\(error.code.rawValue))")
            }
        }
        let bytes = try await read()
        do throws(PinnedKeySetError) {
            return try PinnedKeySet(parsing: bytes)
        } catch {
            throw KeysUnavailable(
                description: "the response of \(address) is not a usable key set (\(error.code.rawValue))")
        }
    }

    /// Reads the document, which can be any key set.
    private func read() async throws(KeysUnavailable) -> [UInt8] {
        if let file {
            guard let content = FileManager.default.contents(atPath: file), content.count <= Self.longest
            else {
                throw KeysUnavailable(description: "the key set in \(file) cannot be read")
            }
            return Array(content)
        }
        do {
            return try await fetch(address)
        } catch {
            throw KeysUnavailable(description: "the keys cannot be fetched from \(address)")
        }
    }

    /// Maximum size of the document in bytes.
    private static let longest = 65_536

    private var address: String { url ?? AppleEndpoints.apple.keySet }

    private func fetch(_ url: String) async throws -> [UInt8] {
        try await HTTPClient.withHTTPClient(configuration: .apple()) { client in
            let response = try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: nil)
            guard response.status == 200 else {
                throw KeysUnavailable(description: "status \(response.status)")
            }
            return response.body
        }
    }
}
