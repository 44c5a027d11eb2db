package import JOSE

/// Fetches a remote key set. This is transport only: the caller checks the response.
public protocol KeySetSource: Sendable {
    /// Sends one request, with `If-None-Match` when there is an entity tag.
    ///
    /// Reads at most `KeySetResponse.longestBody` bytes, follows no redirect, reacts to cancellation
    /// promptly, and ends within its own time limit. Throws `KeySetFetchError` when the cause is known; any
    /// other error counts as `.unreachable`. A response with any status is returned, not thrown.
    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse
}

/// The response of a key-set endpoint: the parts of the HTTP response that the cache needs, not yet checked.
public struct KeySetResponse: Sendable, Equatable {
    /// The longest accepted body in bytes. Apple's key set has about 2 KiB.
    public static let longestBody = 65_536

    public let status: Int
    public let body: [UInt8]
    public let contentType: String?
    public let entityTag: String?
    /// All `Cache-Control` fields, joined by commas (RFC 9110 §5.3).
    public let cacheControl: String?
    /// The `Age` field, in seconds (RFC 9111 §5.1).
    public let age: String?

    public init(
        status: Int, body: [UInt8], contentType: String? = nil, entityTag: String? = nil,
        cacheControl: String? = nil, age: String? = nil
    ) {
        self.status = status
        self.body = body
        self.contentType = contentType
        self.entityTag = entityTag
        self.cacheControl = cacheControl
        self.age = age
    }
}

/// The result of a fetch, before any decision that depends on time.
package enum KeySetFetchOutcome: Sendable {
    case replaced(ReceivedKeySet, CacheControl)
    /// The cached set is still current.
    case confirmed(CacheControl)
    case failed(KeySetFetchError.Code)
    /// The fetch was cancelled. This is no evidence about Apple.
    case cancelled

    /// Evaluates the response to a request that carried `entityTag`.
    package init(_ response: KeySetResponse, to entityTag: String?) {
        let cacheControl = CacheControl(response.cacheControl, age: response.age)
        switch response.status {
        case 200:
            do throws(KeySetFetchError) {
                self = .replaced(
                    try ReceivedKeySet(response.body, entityTag: response.entityTag), cacheControl)
            } catch {
                self = .failed(error.code == .malformed && Self.isHTML(response) ? .html : error.code)
            }
        // A 304 to an unconditional request confirms nothing (RFC 9110 §15.4.5).
        case 304 where entityTag != nil: self = .confirmed(cacheControl)
        default: self = .failed(.statusUnexpected)
        }
    }

    /// Returns true for HTML. It only chooses the name of the failure: the fetch has
    /// already failed because the body is not a key set.
    private static func isHTML(_ response: KeySetResponse) -> Bool {
        if let type = response.contentType?.lowercased(), type.hasPrefix("text/html") { return true }
        let spaces = [0x20, 0x09, 0x0A, 0x0D] as [UInt8]
        return response.body.first { !spaces.contains($0) } == UInt8(ascii: "<")
    }
}

/// A key set that passed every check. It may replace the cached set.
package struct ReceivedKeySet: Sendable {
    package let keys: JSONWebKeySet
    package let body: [UInt8]
    package let entityTag: String?

    /// Throws `.empty`, `.tooLarge`, `.malformed` or `.noUsableKey`. The same checks apply to responses of
    /// Apple, to stored snapshots and to pinned files.
    package init(_ body: [UInt8], entityTag: String? = nil) throws(KeySetFetchError) {
        guard !body.isEmpty else { throw KeySetFetchError(.empty) }
        guard body.count <= KeySetResponse.longestBody else {
            throw KeySetFetchError(.tooLarge, detail: "\(body.count) bytes")
        }
        do throws(JOSEError) {
            keys = try JSONWebKeySet(parsing: body)
        } catch {
            throw KeySetFetchError(.malformed, detail: error.detail)
        }
        guard !keys.isEmpty else {
            throw KeySetFetchError(.noUsableKey, detail: "\(keys.skipped.count) skipped")
        }
        self.body = body
        self.entityTag = EntityTag.usable(entityTag)
    }
}

/// Reason for a fetch without a usable key set. Match on `code`; equality is on `code`.
public typealias KeySetFetchError = KeySetFailure<KeySetFetchErrorCode>

/// A closed list, so that it can label a metric.
public enum KeySetFetchErrorCode: String, KeySetFailureCode {
    public static let subject = "key set not fetched"

    /// The connection could not be made, or it broke.
    case unreachable
    case timedOut = "timed_out"
    /// Neither 200 nor a 304 to a conditional request. Redirects are not followed.
    case statusUnexpected = "status_unexpected"
    case empty
    /// More than 64 KiB.
    case tooLarge = "too_large"
    /// A web page: an error page, a maintenance notice, a captive portal.
    case html
    /// Not a JSON Web Key Set.
    case malformed
    /// A key set in which no key may be used for verification.
    case noUsableKey = "no_usable_key"
}
