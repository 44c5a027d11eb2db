/// A closed set of words that rows hold as small numbers, the same in every database.
public protocol StorageCode: CaseIterable, Hashable, Sendable {
    /// Every word, number 1 first. Only append: the numbers are in the databases of operators.
    static var numbered: [Self] { get }
}

extension StorageCode {
    /// - Throws: `StorageError` for a number that this version does not know.
    public init(storageCode: Int64) throws(StorageError) {
        guard storageCode > 0, storageCode <= Self.numbered.count else {
            throw StorageError(
                .corrupted,
                detail:
                    "expected a number of \(Self.self), found \(storageCode); is the program older than the database?"
            )
        }
        self = Self.numbered[Int(storageCode) - 1]
    }

    public var storageCode: Int64 {
        let numbered = Self.numbered
        // Generic code looks up the type of the result of `firstIndex(of:)` with each call.
        for index in 0..<numbered.count where numbered[index] == self { return Int64(index) + 1 }
        preconditionFailure("\(self) is missing in \(Self.self).numbered")
    }
}
