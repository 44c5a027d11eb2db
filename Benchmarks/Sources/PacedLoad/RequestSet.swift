import Foundation

/// The requests as bytes. The load generator sends them one after another, and then starts over.
struct RequestSet {
    private let bytes: [UInt8]
    private let ranges: [Range<Int>]

    init(contentsOfFile path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var ranges: [Range<Int>] = []
        var next = 0
        while next + 4 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[next + $1]) << (8 * $1) }
            ranges.append(next + 4..<next + 4 + length)
            next += 4 + length
        }
        guard !ranges.isEmpty, next == bytes.count else { throw CocoaError(.fileReadCorruptFile) }
        (self.bytes, self.ranges) = (bytes, ranges)
    }

    func withRequest<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[ranges[index % ranges.count]])) }
    }
}
