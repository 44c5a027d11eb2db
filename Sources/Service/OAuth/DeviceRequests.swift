import AppleAccounts
public import AuthorizationServer
import Commits
import Cryptography
public import StrictJSON
import Synchronization

/// Handles `POST /oauth/device_authorization` (RFC 8628 §3.1): stores a request from a device that waits for
/// its user.
public struct DeviceRequests: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Maximum number of requests that one address may send for public clients within ten minutes, the
    /// lifetime of a code. Each replica counts separately. Any program can send requests with a public
    /// client's ID, so one address gets a twentieth of a client's limit, and a subscriber's widest IPv6
    /// network gets a fifth.
    static let mostOfAddress = 50

    /// Waiting time in seconds when a client is at its limit. It is short, because abandoned requests expire
    /// all the time.
    static let ceilingWait: Int64 = 60

    /// Maximum number of attempts to find an unused user code. When 10,000 codes are waiting, one in 2.5
    /// million codes is in use.
    private static let attempts = 3

    /// Counts a public client's request. Only the size of the table bounds requests from unknown addresses.
    ///
    /// - Throws: `RequestsPaused` if the address has sent too many requests.
    public func admit(_ client: OAuthClient, from address: RequesterAddress?) throws(RequestsPaused) {
        guard !client.kind.isConfidential, let address else { return }
        let now = server.now()
        if let pause = server.deviceRequests.withLock({ $0.admit(address, at: now) }) {
            throw RequestsPaused(cause: .devices, seconds: pause)
        }
    }

    /// - Parameter origin: The request's origin, which the consent page shows to the user.
    /// - Throws: `OAuthError` with the code `temporarily_unavailable` at a limit; `StorageError`,
    ///   `OverloadedError`.
    public func begin(
        _ client: OAuthClient, _ scope: ScopeSet, from origin: DeviceAuthorization.Origin
    ) async throws -> DeviceResponse {
        for _ in 0..<Self.attempts {
            let code = DeviceCodeText(random: SecureRandom.bytes(count: 32))
            let userCode = UserCode(random: { SecureRandom.bytes(count: $0) })
            let now = server.now()
            let device = DeviceAuthorization(
                digest: code.digest, userCodeDigest: userCode.digest, oauthClientID: client.id,
                scope: scope.text, origin: origin, issuedAt: now,
                expiresAt: now.advanced(byMilliseconds: DeviceAuthorization.lifetime))
            do {
                let stored = try await server.dependencies.commits.submit(BeginDeviceCommand(device: device))
                return DeviceResponse(stored, code, userCode, issuer: server.settings.issuer)
            } catch let refusal as GrantRefusal where refusal.code == .userCodeTaken {
                continue
            } catch let refusal as GrantRefusal where refusal.code == .tooManyDevices {
                break
            }
        }
        throw OAuthError(
            .temporarilyUnavailable,
            "Too many devices wait for a user at the moment; try again in a few minutes.",
            reason: .limitReached, retryAfter: Self.ceilingWait)
    }
}

/// The response to a device authorization request (RFC 8628 §3.2).
public struct DeviceResponse: Sendable {
    private let device: DeviceAuthorization
    private let code: DeviceCodeText
    private let userCode: UserCode
    private let address: String

    init(_ device: DeviceAuthorization, _ code: DeviceCodeText, _ userCode: UserCode, issuer: Issuer) {
        (self.device, self.code, self.userCode) = (device, code, userCode)
        address = issuer.url(DevicePageUseCase.path)
    }
}

extension DeviceResponse: JSONBody {
    public static var schemaName: String { "DeviceResponse" }
    public static var schemaText: String { "A device authorization response (RFC 8628 §3.2)." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("device_code", "The secret with which the device polls.") { $0.code.text }
        member("user_code", "The code to show.") { $0.userCode.shown }
        member("verification_uri", "The address to show.") { $0.address }
        member("verification_uri_complete", "The address with the code, for a QR code.") {
            "\($0.address)?user_code=\($0.userCode.shown)"
        }
        member("expires_in", "Seconds until both codes expire.") {
            ($0.device.expiresAt.milliseconds - $0.device.issuedAt.milliseconds) / 1000
        }
        member("interval", "Seconds between two polls.") { $0.device.interval }
    }

    public func write(into json: inout JSONWriter) { json.object(self) }
}

extension DeviceResponse: CustomStringConvertible, CustomReflectable {
    /// A description without the codes.
    public var description: String { "device authorization response" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
