import Cryptography
import Encodings
import HTTPEngine

/// The style sheet and the script of all pages. Their names have the hash of their content, so browsers keep
/// them for ever, and a page names the hash too, so a browser runs nothing else.
struct ConsoleAssets: Sendable {
    struct File: Sendable {
        let path: String
        /// For the attribute `integrity` (Subresource Integrity §3.3).
        let integrity: String
        let contentType: StaticString
        let bytes: [UInt8]

        init(_ name: String, _ suffix: String, _ contentType: StaticString, _ bytes: [UInt8]) {
            let hash = bytes.withUnsafeBytes { SHA256Digest.hash($0) }
            path = "\(ConsoleSite.root)/assets/\(name).\(Hexadecimal.encode(hash).prefix(16)).\(suffix)"
            integrity = "sha256-" + Base64.encode(hash)
            (self.contentType, self.bytes) = (contentType, bytes)
        }
    }

    static let style = File("console", "css", "text/css; charset=utf-8", PackageResources.console_css)
    static let script = File("console", "js", "text/javascript; charset=utf-8", PackageResources.console_js)

    /// Returns the file at a path.
    static func file(at path: Substring) -> File? {
        [style, script].first { $0.path.isByteEqual(to: String(path)) }
    }
}
