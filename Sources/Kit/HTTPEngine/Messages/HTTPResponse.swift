package import NIOCore
package import NIOHTTP1

/// The response to a request, before it is encoded.
package struct HTTPResponse: Sendable {
    package let status: HTTPResponseStatus
    package let contentType: StaticString?
    package let body: [UInt8]
    /// Written after `body`. All responses share its memory, so that a thousand slow clients cause no
    /// thousand copies.
    package var sharedBody: ByteBuffer?
    package var entityTag: String?
    /// True if no cache may keep the response (RFC 9111 §5.2.2.5): a response about a user, and every error.
    package var forbidsCaching = false
    /// More fields, written without escapes: a value must not contain a line break.
    package var fields: [(name: StaticString, value: String)] = []
    /// The stable code of an error, for the log.
    package var code: String?

    package init(
        status: HTTPResponseStatus, contentType: StaticString?, body: [UInt8], sharedBody: ByteBuffer? = nil,
        entityTag: String? = nil, forbidsCaching: Bool = false
    ) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
        (self.sharedBody, self.entityTag, self.forbidsCaching) = (sharedBody, entityTag, forbidsCaching)
    }

    /// A JSON response about a user.
    package static func json(_ status: HTTPResponseStatus = .ok, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: body, forbidsCaching: true)
    }
}
