import AppleAccounts

/// A difference between the behaviour of a store and a check.
public struct ConformanceFailure: Error, CustomStringConvertible {
    public let description: String
}

func expect(_ condition: Bool, _ claim: String, line: Int = #line, file: String = #fileID) throws {
    guard !condition else { return }
    throw ConformanceFailure(description: "\(file):\(line): not so: \(claim)")
}

func expectEqual<Value: Equatable>(
    _ found: Value, _ expected: Value, line: Int = #line, file: String = #fileID
) throws {
    guard found != expected else { return }
    throw ConformanceFailure(description: "\(file):\(line): found \(found), expected \(expected)")
}

func expectRefusal(
    _ code: AccountRefusal.Code, line: Int = #line, file: String = #fileID,
    _ action: () async throws -> some Any
) async throws {
    let refusal = try await thrown(AccountRefusal.self, "\(code)", line, file, action)
    try expectEqual(refusal.code, code, line: line, file: file)
}

/// Returns the error of an action that must throw one of this type.
func thrown<Failure: Error>(
    _ type: Failure.Type, _ expected: String, _ line: Int, _ file: String,
    _ action: () async throws -> some Any
) async throws -> Failure {
    do {
        let found = try await action()
        throw ConformanceFailure(
            description: "\(file):\(line): found \(found), expected \(expected) to be thrown")
    } catch let failure as Failure {
        return failure
    }
}

func unwrap<Value>(_ value: Value?, line: Int = #line, file: String = #fileID) throws -> Value {
    guard let value else { throw ConformanceFailure(description: "\(file):\(line): found nil") }
    return value
}
