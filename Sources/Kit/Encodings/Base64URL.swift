// Encodings owns string comparison and the text encodings of bytes, numbers and times: base64, base64url,
// hexadecimal, RFC 3339, HTTP dates, escapes for HTML and terminals, URL parts and host names. It also owns
// the check that protects a development server from other sites' pages, and the protocol for errors with
// codes. It does not own documents, keys, HTTP or any specific error.

/// base64url without padding (RFC 4648 §5, RFC 7515 §2), in canonical form only.
///
/// `Data(base64Encoded:)` accepts stray bits and wrong padding, so one signature would have several
/// encodings. Here every byte string has exactly one encoding.
public enum Base64URL {
    /// Decodes a string. Returns `nil` for padding, white space, a character outside the alphabet, an
    /// impossible length, or stray bits in the last character.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let remainder = text.count % 4
        guard remainder != 1 else { return nil }
        let size = text.count / 4 * 3 + (remainder == 0 ? 0 : remainder - 1)
        var isValid = true
        let decoded = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            text.withUnsafeBufferPointer { input in
                isValid = decode(input, into: output)
            }
            count = isValid ? size : 0
        }
        return isValid ? decoded : nil
    }

    public static func decode(_ text: String) -> [UInt8]? {
        decode(Array(text.utf8)[...])
    }

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        // This function works on contiguous bytes: callers in other modules get no specialized copy, and
        // access through a generic collection takes ten times as long.
        if let text = bytes.withContiguousStorageIfAvailable({ encode($0) }) { return text }
        return Array(bytes).withUnsafeBufferPointer { encode($0) }
    }

    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let size = (bytes.count * 4 + 2) / 3
        return String(unsafeUninitializedCapacity: size) { text in
            alphabet.withUnsafeBufferPointer { alphabet in
                var accumulator: UInt32 = 0
                var bits: UInt32 = 0
                var written = 0
                for byte in bytes {
                    accumulator = accumulator << 8 | UInt32(byte)
                    bits += 8
                    while bits >= 6 {
                        bits -= 6
                        text[written] = alphabet[Int(accumulator >> bits & 63)]
                        written += 1
                    }
                }
                if bits > 0 {
                    text[written] = alphabet[Int(accumulator << (6 - bits) & 63)]
                    written += 1
                }
                return written
            }
        }
    }

    /// Decodes `input` into `output`, which has exactly the decoded size. Returns false unless the input is
    /// canonical base64url. `input.count % 4` must not be 1.
    private static func decode(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        values.withUnsafeBufferPointer { values in
            // Every invalid character sets the top bit of `seen`, so one test at the end finds them all.
            var seen: UInt8 = 0
            var read = 0
            var written = 0
            let whole = input.count & ~3
            while read < whole {
                let a = values[Int(input[read])]
                let b = values[Int(input[read + 1])]
                let c = values[Int(input[read + 2])]
                let d = values[Int(input[read + 3])]
                seen |= a | b | c | d
                output[written] = a << 2 | b >> 4
                output[written + 1] = b << 4 | c >> 2
                output[written + 2] = c << 6 | d
                read += 4
                written += 3
            }
            switch input.count - whole {
            case 2:
                let a = values[Int(input[read])]
                let b = values[Int(input[read + 1])]
                seen |= a | b
                guard b & 0x0F == 0 else { return false }
                output[written] = a << 2 | b >> 4
            case 3:
                let a = values[Int(input[read])]
                let b = values[Int(input[read + 1])]
                let c = values[Int(input[read + 2])]
                seen |= a | b | c
                guard c & 0x03 == 0 else { return false }
                output[written] = a << 2 | b >> 4
                output[written + 1] = b << 4 | c >> 2
            default: break
            }
            return seen & 0x80 == 0
        }
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each character, or 0x80 for characters outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0x80, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}

/// base64 with padding (RFC 4648 §4), in canonical form only. PEM files and configuration settings use it.
public enum Base64 {
    /// Decodes a string. Returns `nil` for characters outside the standard alphabet, and for missing or wrong
    /// padding.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes = Array(text.utf8)
        guard bytes.count % 4 == 0 else { return nil }
        for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        // The alphabets of base64 and base64url differ only in two characters.
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
            case UInt8(ascii: "+"): bytes[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): bytes[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return Base64URL.decode(bytes[...])
    }

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text = Array(Base64URL.encode(bytes).utf8)
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "-"): text[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): text[index] = UInt8(ascii: "/")
            default: break
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Lower-case hexadecimal text.
public enum Hexadecimal {
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a string. Returns `nil` for an odd length or a character other than `0-9a-f`.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = digits.firstIndex(of: character).map({ UInt8($0) }) else { return nil }
            if let pending = high {
                bytes.append(pending << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the value of a hexadecimal digit, in upper or lower case; `nil` for any other byte.
    @inlinable package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
