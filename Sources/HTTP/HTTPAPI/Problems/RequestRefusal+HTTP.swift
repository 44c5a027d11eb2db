import HTTPEngine

extension RequestRefusal {
    /// The problem that the client reads before the engine closes the connection.
    var problemCode: ProblemCode {
        switch self {
        case .malformed: .requestMalformed
        case .headerTooLarge: .headerTooLarge
        case .bodyTooLarge: .bodyTooLarge
        case .timedOut: .requestTimeout
        case .overloaded: .overloaded
        }
    }
}
