/// The name of an object's member, compared byte for byte.
///
/// Swift's `String ==` is canonical equivalence ("K" equals U+212A), so a name never becomes a `String` only to
/// be compared.
public struct JSONName: Sendable, Equatable {
    let bytes: ArraySlice<UInt8>

    /// Lets `switch name { case "iss": ... }` compare bytes. Allocates nothing.
    public static func ~= (literal: StaticString, name: JSONName) -> Bool {
        name == literal
    }

    public static func == (name: JSONName, literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard name.bytes.count == count else { return false }
        return name.bytes.withUnsafeBufferPointer { buffer in
            for index in 0..<count where buffer[index] != literal.utf8Start[index] { return false }
            return true
        }
    }

    public static func == (lhs: JSONName, rhs: JSONName) -> Bool {
        lhs.bytes == rhs.bytes
    }

    public var string: String { String(decoding: bytes, as: UTF8.self) }
}
