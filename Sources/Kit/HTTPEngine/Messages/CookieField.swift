import Encodings

/// The `Cookie` field of a request (RFC 6265 §4.2).
package enum CookieField {
    /// Returns the value of the first cookie with this name. Browsers send the cookie with the closest path
    /// first.
    package static func value(of name: String, in field: String?) -> String? {
        guard var field else { return nil }
        var name = name
        // The search reads eight bytes at a time, because sealed cookies are long.
        return field.withUTF8 { field in
            name.withUTF8 { name in
                var next = 0
                while next < field.count {
                    var start = next
                    let end =
                        WordScan.firstOffset(
                            of: UInt8(ascii: ";"), in: UnsafeRawBufferPointer(field), from: start)
                        ?? field.count
                    next = end + 1
                    while start < end, field[start] == UInt8(ascii: " ") || field[start] == UInt8(ascii: "\t")
                    {
                        start += 1
                    }
                    let mark = start + name.count
                    if mark < end, field[mark] == UInt8(ascii: "="), field[start..<mark].elementsEqual(name) {
                        return String(decoding: field[(mark + 1)..<end], as: UTF8.self)
                    }
                }
                return nil
            }
        }
    }
}
