import Testing

@testable import Encodings

@Suite struct WordScanTests {
    static let stops: [UInt8] = [0x00, 0x1F, 0x22, 0x5C]
    static let passes: [UInt8] = [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7E, 0x7F]

    @Test(arguments: stops)
    func `finds the end of plain text wherever it is`(stop: UInt8) {
        for length in 0..<20 {
            for position in 0..<length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes[position] = stop
                for start in 0...position {
                    #expect(
                        bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: start) } == position)
                    #expect(
                        bytes.withUnsafeBytes { WordScan.endOfPlainASCII(in: $0, from: start) } == position)
                }
                #expect(
                    bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: position + 1) } == length)
            }
        }
    }

    @Test func `every pair of bytes is told apart as one byte at a time would`() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let bytes: [UInt8] = [0x61, first, second, 0x61, 0x61, 0x61, 0x61, 0x61]
                let isStop = { (byte: UInt8) in Self.stops.contains(byte) || byte < 0x20 }
                let text = bytes.firstIndex(where: isStop) ?? bytes.count
                let ascii = bytes.firstIndex { isStop($0) || $0 >= 0x80 } ?? bytes.count
                let printable = bytes.firstIndex { $0 < 0x20 || $0 > 0x7E } ?? bytes.count
                let found = bytes.withUnsafeBytes { bytes in
                    (
                        WordScan.endOfPlainText(in: bytes, from: 0),
                        WordScan.endOfPlainASCII(in: bytes, from: 0),
                        WordScan.firstOffset(of: second, in: bytes, from: 0),
                        WordScan.endOfPrintableASCII(in: bytes)
                    )
                }
                #expect(found.0 == text && found.1 == ascii)
                #expect(found.2 == bytes.firstIndex(of: second) && found.3 == printable)
            }
        }
    }

    @Test func `compares all bytes`() {
        for length in 0..<20 {
            let bytes = [UInt8](repeating: 7, count: length)
            #expect(bytes.withUnsafeBytes { WordScan.areEqual($0, $0) })
            for position in 0..<length {
                var other = bytes
                other[position] = 8
                #expect(
                    !bytes.withUnsafeBytes { bytes in other.withUnsafeBytes { WordScan.areEqual(bytes, $0) } }
                )
            }
        }
    }
}
