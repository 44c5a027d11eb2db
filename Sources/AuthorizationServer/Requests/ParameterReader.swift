/// Reads known parameters, and refuses faults in them as `invalid_request`.
struct ParameterReader {
    let parameters: FormParameters

    init(_ parameters: FormParameters) {
        self.parameters = parameters
    }

    /// Returns `nil` for a parameter that is absent or has no value.
    func text(_ parameter: RequestParameter) throws(OAuthError) -> String? {
        switch value(parameter) {
        case .absent: return nil
        case .repeated: throw refusal(parameter, "is repeated; send it once")
        case .malformed: throw refusal(parameter, "is not UTF-8 in correct percent-encoding; encode it again")
        case .text(let text):
            guard text.utf8.count <= parameter.longest else {
                throw refusal(parameter, "has more than \(parameter.longest) bytes; shorten it")
            }
            return text
        }
    }

    func required(_ parameter: RequestParameter) throws(OAuthError) -> String {
        guard let text = try text(parameter) else { throw refusal(parameter, "is missing; send it") }
        return text
    }

    /// Reads a required token. A token above the bound is never valid, and an invalid token is no error of
    /// the request (RFC 7009 §2.2, RFC 7662 §2.2). It is returned as an empty text, which is never a valid
    /// token.
    func token(_ parameter: RequestParameter) throws(OAuthError) -> String {
        if case .text(let text) = value(parameter), text.utf8.count > parameter.longest {
            return ""
        }
        return try required(parameter)
    }

    /// Reads a parameter that is only a hint. A malformed hint is ignored; a repeated hint is refused.
    func hint(_ parameter: RequestParameter) throws(OAuthError) -> String? {
        switch value(parameter) {
        case .absent, .malformed: return nil
        case .repeated: throw refusal(parameter, "is repeated; send it once")
        case .text(let text): return text.utf8.count <= parameter.longest ? text : nil
        }
    }

    /// One byte more than the bound shows that a value is too long.
    private func value(_ parameter: RequestParameter) -> FormParameters.Value {
        parameters.value(of: parameter.rawValue, upTo: parameter.longest + 1)
    }

    func refusal(_ parameter: RequestParameter, _ fault: String) -> OAuthError {
        OAuthError(.invalidRequest, "The parameter \(parameter.rawValue) \(fault).")
    }
}
