extension String {
    /// Whether the UTF-8 of two strings is the same.
    ///
    /// Eight bytes at a time, because every look-up of a name ends here.
    func isByteEqual(to other: String) -> Bool {
        let answer: Bool?? = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                UnsafeRawBufferPointer(mine).isByteEqual(to: UnsafeRawBufferPointer(theirs))
            }
        }
        if case .some(.some(let isEqual)) = answer { return isEqual }
        return utf8.elementsEqual(other.utf8)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isByteEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var offset = 0
        while offset + 8 <= count {
            let mine = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard mine == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        while offset < count {
            guard self[offset] == other[offset] else { return false }
            offset += 1
        }
        return true
    }
}
