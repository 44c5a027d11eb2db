import AppleAccounts

/// A closed set of words that rows hold as small numbers. A number is never changed and never given again.
protocol StorageCode: CaseIterable, Hashable, Sendable {
    var storageCode: Int64 { get }
}

extension StorageCode {
    /// - Throws: `StorageError` for a number that this version does not know.
    init(storageCode: Int64) throws(StorageError) {
        guard let value = Self.allCases.first(where: { $0.storageCode == storageCode }) else {
            throw StorageError(.corrupted, detail: "\(Self.self) has no number \(storageCode)")
        }
        self = value
    }
}
