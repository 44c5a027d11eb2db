package import JOSE

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
