import Cryptography
import Encodings
package import Hummingbird
import NIOCore

/// The fields of a form of an emulator's own pages.
package struct PageForm: Sendable {
    /// Bytes. The limit of the control API for the longest member of a link, and more than a page offers.
    static let longestField = 2048

    private let fields: [(name: String, value: String)]

    /// Throws `.bodyMalformed`, `.memberMalformed`, and `NIOTooManyBytesError`.
    package init(_ request: Request) async throws {
        let body = try await request.body.collect(upTo: ControlInput.bodyLimit)
        guard let fields = FormEncoding.decode(Array(buffer: body)) else {
            throw EmulatorError(.bodyMalformed, detail: "not a form")
        }
        // Some fields are stored, so their length is bounded.
        if let long = fields.first(where: { $0.value.utf8.count > Self.longestField }) {
            throw EmulatorError(
                .memberMalformed, detail: "\(long.name.prefix(64)): at most \(Self.longestField) bytes")
        }
        self.fields = fields
    }

    /// `nil` when the field is absent or empty.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// All fields except the token of the page.
    package var parameters: [(name: String, value: String)] { fields.filter { $0.name != "token" } }

    /// Checks the page's token. Another site can submit a form from a developer's browser, but cannot read
    /// the token (CSRF). Throws `.pageOutdated`.
    package func check(token: String) throws(EmulatorError) {
        guard ConstantTime.areEqual(Array((self["token"] ?? "").utf8), Array(token.utf8)) else {
            throw EmulatorError(.pageOutdated, detail: "this page is from an earlier run; reload it")
        }
    }
}
