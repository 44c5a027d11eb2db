import Encodings

/// Searches and comparisons that `Substring` and its view of UTF-8 offer too, but here one call handles many
/// bytes.
extension Substring {
    /// Returns the first position of an ASCII character.
    package func firstIndex(ofASCII byte: UInt8) -> Index? {
        let found = utf8.withContiguousStorageIfAvailable { bytes in
            WordScan.firstOffset(of: byte, in: UnsafeRawBufferPointer(bytes), from: 0) ?? bytes.count
        }
        guard let offset = found else { return utf8.firstIndex(of: byte) }
        let index = utf8.index(startIndex, offsetBy: offset)
        return index == endIndex ? nil : index
    }

    /// Returns the text before and after the first occurrence of an ASCII character.
    package func cut(at byte: UInt8) -> (before: Substring, after: Substring?) {
        guard let index = firstIndex(ofASCII: byte) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// Compares bytes, see `String.isByteEqual`.
    package func isByteEqual(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                WordScan.areEqual(UnsafeRawBufferPointer(mine), UnsafeRawBufferPointer(theirs))
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
