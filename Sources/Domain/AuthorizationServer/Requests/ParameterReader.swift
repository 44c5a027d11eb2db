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

    /// Reads `state` as it was sent, so that it goes back byte for byte.
    func state() throws(OAuthError) -> RequestState? {
        let values = parameters.rawValues(of: RequestParameter.state.rawValue)
        guard values.count <= 1 else { throw refusal(.state, "is repeated; send it once") }
        guard let raw = values.first, !raw.isEmpty else { return nil }
        let state: RequestState?
        switch parameters.source {
        case .query: state = RequestState(query: raw)
        case .form: state = try text(.state).flatMap { RequestState(text: $0) }
        }
        guard let state else {
            throw refusal(.state, "has more than \(RequestState.longest) bytes, or bytes of no query")
        }
        return state
    }

    /// One byte more than the bound shows that a value is too long.
    private func value(_ parameter: RequestParameter) -> FormParameters.Value {
        parameters.value(of: parameter.rawValue, upTo: parameter.longest + 1)
    }

    func refusal(_ parameter: RequestParameter, _ fault: String) -> OAuthError {
        OAuthError(.invalidRequest, "The parameter \(parameter.rawValue) \(fault).")
    }
}
