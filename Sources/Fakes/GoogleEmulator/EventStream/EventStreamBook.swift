import Cryptography
import EmulatorServer
import Encodings
import JOSE
import StrictJSON

/// The registered receiver of Google's events, and the service accounts that may register it. Limits their
/// number, and does no I/O.
struct EventStreamBook: Sendable, Codable {
    /// Maximum number of service accounts. Above this number, the oldest account is dropped.
    static let mostAccounts = 8

    /// A registered receiver.
    struct Stream: Sendable, Codable, Equatable {
        var url: String
        /// URIs of the event types that the receiver has requested.
        var events: [String]
        var isEnabled = true
    }

    private(set) var stream: Stream?
    private(set) var accounts: [ServiceAccount] = []

    mutating func add(_ account: ServiceAccount) {
        if accounts.count >= Self.mostAccounts { accounts.removeFirst() }
        accounts.append(account)
    }

    /// Registers or replaces the receiver. A new stream is enabled; an existing stream keeps its status.
    mutating func register(url: String, events: [String]) {
        stream = Stream(url: url, events: events, isEnabled: stream?.isEnabled ?? true)
    }

    /// Sets the status. Returns `false` if no receiver is registered.
    mutating func setStatus(isEnabled: Bool) -> Bool {
        guard stream != nil else { return false }
        stream?.isEnabled = isEnabled
        return true
    }

    mutating func removeStream() { stream = nil }
}

/// A service account in the fake Google's project, with its key.
struct ServiceAccount: Sendable, Codable {
    let email: String
    let keyID: String
    fileprivate let pem: String
    /// True if the account has the `roles/riscconfigs.admin` role.
    let hasRole: Bool
    /// True if the RISC API is enabled in the account's project.
    let hasAPI: Bool

    /// Creates an account with a new key, which takes up to a second. Throws `JOSEError` if OpenSSL fails.
    init(project: String, hasRole: Bool, hasAPI: Bool) throws {
        // The name differs from Google's names, because `siwa` sends a real account's token only to Google.
        let number = Hexadecimal.encode(SecureRandom.bytes(count: 4))
        email = "risc-\(number)@\(project).iam.gserviceaccount.invalid"
        keyID = Hexadecimal.encode(SecureRandom.bytes(count: 20))
        pem = try RSAPrivateKey.generate(bits: 2048).pem
        (self.hasRole, self.hasAPI) = (hasRole, hasAPI)
    }

    /// Returns the content of the JSON key file, with the same members as Google's files.
    func file(project: String, baseURL: String) -> ServiceAccountFile {
        ServiceAccountFile(account: self, project: project, baseURL: baseURL)
    }

    func isValidSignature(of segments: JWSSegments) -> Bool {
        guard let key = try? RSAPrivateKey(pem: pem).publicKey() else { return false }
        return key.isValidSignature(segments.signature, for: segments.signingInput[...])
    }
}

struct ServiceAccountFile: JSONBody {
    let account: ServiceAccount
    let project: String
    let baseURL: String

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("type") { _ in "service_account" }
        member("project_id") { $0.project }
        member("private_key_id") { $0.account.keyID }
        member("private_key", "PKCS #8 in PEM.") { $0.account.pem }
        member("client_email") { $0.account.email }
        member("client_id") { _ in "100000000000000000000" }
        member("auth_uri") { "\($0.baseURL)/o/oauth2/auth" }
        member("token_uri") { "\($0.baseURL)/token" }
    }
}
