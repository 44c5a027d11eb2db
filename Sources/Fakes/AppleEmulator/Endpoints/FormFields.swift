import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

/// Fields in `application/x-www-form-urlencoded`, the only format that Apple's endpoints accept, and also the
/// format of queries.
struct FormFields {
    /// Maximum body size in bytes. A client secret, a token and a few names need far less.
    static let bodyLimit = 64 * 1024
    private static let fieldLimit = 64

    private var fields: [(name: String, value: String)] = []

    /// Reads a request's form. Throws `invalid_client` for another content type, as Apple does for JSON, and
    /// `invalid_request` for a body that is too large, repeats a field or is not UTF-8.
    init(bodyOf request: Request) async throws(OAuthError) {
        let type = request.headers[.contentType] ?? ""
        let essence = type.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard essence == "application/x-www-form-urlencoded" else {
            throw OAuthError(.invalidClient, "the body must be application/x-www-form-urlencoded")
        }
        let buffer: ByteBuffer
        do {
            buffer = try await request.body.collect(upTo: Self.bodyLimit)
        } catch {
            throw OAuthError(
                .invalidRequest, "the body is larger than \(Self.bodyLimit) bytes, or incomplete")
        }
        try self.init(Array(buffer.readableBytesView))
    }

    init(_ bytes: some Collection<UInt8>) throws(OAuthError) {
        guard let decoded = FormEncoding.decode(bytes, limit: Self.fieldLimit) else {
            throw OAuthError(
                .invalidRequest,
                "the body is not form-encoded UTF-8, or has more than \(Self.fieldLimit) fields")
        }
        for field in decoded {
            guard !fields.contains(where: { $0.name.isByteEqual(to: field.name) }) else {
                throw OAuthError(.invalidRequest, "a field occurs twice")
            }
            fields.append(field)
        }
    }

    /// Returns a field's value. A field without a value counts as absent (RFC 6749 §3.2).
    subscript(name: String) -> String? {
        fields.first { $0.name.isByteEqual(to: name) && !$0.value.isEmpty }?.value
    }

    /// Returns true if the field is present, with or without a value.
    func has(_ name: String) -> Bool { fields.contains { $0.name.isByteEqual(to: name) } }

    /// Returns a field's value. Throws `invalid_request` if the field is absent.
    func require(_ name: String) throws(OAuthError) -> String {
        guard let value = self[name] else { throw OAuthError(.invalidRequest, "\(name) is missing") }
        return value
    }
}
