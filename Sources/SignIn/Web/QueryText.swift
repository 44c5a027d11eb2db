/// Writes a query (RFC 3986 §3.4). Its output has only unreserved characters and escapes, so that a value can
/// neither add a parameter nor end a header field.
struct QueryText {
    private var text = ""

    mutating func append(_ name: StaticString, _ value: String) {
        append(name, encoded: Self.encode(value))
    }

    /// Appends a value that is percent-encoded already.
    mutating func append(_ name: StaticString, encoded value: String) {
        if !text.isEmpty { text += "&" }
        text += "\(name)=\(value)"
    }

    /// Returns the URL with these parameters after its own.
    func appended(to url: String) -> String {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return "\(url)?\(text)" }
        let isOpen = url.utf8.index(after: mark) == url.endIndex || url.hasSuffix("&")
        return isOpen ? url + text : "\(url)&\(text)"
    }

    /// Returns the URL with these parameters and the `state` of an app's page, which is percent-encoded
    /// already.
    func appended(to url: String, state: String?) -> String {
        guard let state else { return appended(to: url) }
        var query = self
        query.append("state", encoded: state)
        return query.appended(to: url)
    }

    static func encode(_ value: String) -> String {
        let digits: [UInt8] = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.utf8.count)
        for byte in value.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
