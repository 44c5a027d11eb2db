package import JOSE

/// Fetches a remote key set. A source only transfers data; the caller checks the response.
public protocol KeySetSource: Sendable {
    /// Sends one request, with `If-None-Match` if there is an entity tag.
    ///
    /// Reads at most `KeySetResponse.longestBody` bytes, follows no redirects, reacts to cancellation
    /// promptly, and ends within a time limit of its own. Throws `KeySetFetchError` if the cause is known;
    /// any other error is treated as `.unreachable`. A response with any status is returned, not thrown.
    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse
}

/// The response from a key-set endpoint: the parts that the cache needs, not yet checked.
public struct KeySetResponse: Sendable, Equatable {
    /// Maximum size of an accepted body, in bytes. Apple's key set has about 2 KiB.
    public static let longestBody = 65_536

    public let status: Int
    public let body: [UInt8]
    public let contentType: String?
    public let entityTag: String?
    /// All `Cache-Control` headers, joined by commas (RFC 9110 §5.3).
    public let cacheControl: String?
    /// The `Age` header, in seconds (RFC 9111 §5.1).
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
    /// The fetch was cancelled, which proves nothing about Apple.
    case cancelled

    /// Evaluates the response to a request that sent `entityTag`.
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

    /// Returns true for HTML. This only chooses the failure code, because a response without a key set is
    /// a failure in any case.
    private static func isHTML(_ response: KeySetResponse) -> Bool {
        if let type = response.contentType?.lowercased(), type.hasPrefix("text/html") { return true }
        let spaces = [0x20, 0x09, 0x0A, 0x0D] as [UInt8]
        return response.body.first { !spaces.contains($0) } == UInt8(ascii: "<")
    }
}

/// A key set that has passed every check and may replace the cached set.
package struct ReceivedKeySet: Sendable {
    package let keys: JSONWebKeySet
    package let body: [UInt8]
    package let entityTag: String?

    /// Checks a key set. Apple's responses, stored snapshots and pinned files all undergo the same checks.
    ///
    /// Throws `.empty`, `.tooLarge`, `.malformed` or `.noUsableKey`.
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

/// The reason why a fetch returned no usable key set. Match on `code`; equality is on `code`.
public typealias KeySetFetchError = KeySetFailure<KeySetFetchErrorCode>

/// Codes for a failed fetch. The list is closed, so that the code can be a metric label.
public enum KeySetFetchErrorCode: String, KeySetFailureCode {
    public static let subject = "key set not fetched"

    /// The source could not connect, or the connection broke.
    case unreachable
    case timedOut = "timed_out"
    /// The status is neither 200 nor a 304 to a conditional request. A source follows no redirects.
    case statusUnexpected = "status_unexpected"
    case empty
    /// The body is larger than 64 KiB.
    case tooLarge = "too_large"
    /// The body is a web page, for example an error page, a maintenance notice or a captive portal.
    case html
    /// The body is not a JSON Web Key Set.
    case malformed
    /// No key in the set may be used for verification.
    case noUsableKey = "no_usable_key"
}
