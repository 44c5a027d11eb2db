extension PostgresSession {
    /// Number of attempts for a batch that conflicts with another replica or meets its new row.
    private static let mostAttempts = 5

    /// Runs a transaction again, from its beginning, when it conflicts with another replica or meets its new
    /// row.
    ///
    /// - Parameter onConflict: Called before the next attempt.
    func repeatingConflicts<Value>(
        onConflict: (PostgresError) -> Void = { _ in }, transaction: () throws -> Value
    ) throws -> Value {
        for _ in 1..<Self.mostAttempts {
            do {
                return try transaction()
            } catch let error as PostgresError where error.isWorthRepeating {
                onConflict(error)
                try rollBack()
            }
        }
        return try transaction()
    }

    /// Runs `body`. When it throws, no transaction stays open.
    func rollingBackFailures<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            try? rollBack()
            throw error
        }
    }
}
