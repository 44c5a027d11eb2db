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

    /// Only chooses the name of the failure: the fetch has failed already because the body is not a key set.
    private static func isHTML(_ response: KeySetResponse) -> Bool {
        if let type = response.contentType?.lowercased(), type.hasPrefix("text/html") { return true }
        let spaces = [0x20, 0x09, 0x0A, 0x0D] as [UInt8]
        return response.body.first { !spaces.contains($0) } == UInt8(ascii: "<")
    }
}
