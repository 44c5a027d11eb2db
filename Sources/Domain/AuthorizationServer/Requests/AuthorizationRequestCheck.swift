/// Decides about the parameters of a request to `/oauth/authorize`.
///
/// The order protects users: until client and redirect URI are known to belong together, nothing is sent to a
/// URI of the request, because such a redirect could lead anywhere (RFC 9700 §4.11.2).
public struct AuthorizationRequestCheck: Sendable {
    let settings: OAuthSettings

    public init(_ settings: OAuthSettings) {
        self.settings = settings
    }

    /// - Parameters:
    ///   - parameters: The bytes of the query of a `GET`, or the form of a `POST`.
    ///   - userAgent: The field `User-Agent` of the request.
    public func check(
        _ parameters: some Collection<UInt8>, as source: FormParameters.Source, userAgent: String?
    ) -> AuthorizationDecision {
        do throws(FormParameters.TooMany) {
            return check(try FormParameters(parsing: parameters, as: source), userAgent: userAgent)
        } catch {
            return page(
                OAuthError(
                    .invalidRequest,
                    "The request has more than \(FormParameters.mostParameters) parameters or "
                        + "\(FormParameters.mostBytes) bytes; shorten it."),
                languages: RequestedLanguages())
        }
    }

    func check(_ parameters: FormParameters, userAgent: String?) -> AuthorizationDecision {
        let reader = ParameterReader(parameters)
        let languages = RequestedLanguages(reader)
        let uri: String
        do throws(OAuthError) {
            uri = try reader.required(.redirectURI)
        } catch {
            // A wrong client is reported before a missing redirect URI, so that developers find the two
            // errors in order.
            let (client, clientError) = client(reader)
            return page(clientError ?? error, client: client, languages: languages)
        }
        let (client, clientError) = client(reader)
        guard let client, let target = client.redirectTarget(for: uri) else {
            if let target = settings.clients.appFlipTarget(for: uri) {
                // These URIs belong to Google, which goes on in the browser after this error.
                let response = AuthorizationResponse(
                    target: target, state: try? reader.state(), issuer: settings.issuer)
                return .redirect(
                    response,
                    OAuthError(
                        .invalidRequest,
                        "The client is not one that can use this redirect URI; check client_id."))
            }
            let mismatch = OAuthError(
                .redirectURIMismatch,
                "The redirect URI is not registered for this client; register it exactly as it is sent.")
            return page(clientError ?? mismatch, client: client, languages: languages)
        }
        if let userAgent,
            EmbeddedWebView.isOne(userAgent: userAgent, allowsHomeScreen: client.allowsHomeScreenApp)
        {
            let error = OAuthError(
                .disallowedUserAgent,
                "The page was opened inside another app, which could read what the user types; open it in the "
                    + "browser.")
            return page(error, client: client, languages: languages)
        }
        let state: RequestState?
        do throws(OAuthError) {
            state = try reader.state()
        } catch {
            // With several `state` values there is none to return.
            return .redirect(
                AuthorizationResponse(target: target, state: nil, issuer: settings.issuer), error)
        }
        let response = AuthorizationResponse(target: target, state: state, issuer: settings.issuer)
        do throws(OAuthError) {
            return .proceed(try request(reader, client: client, response: response, languages: languages))
        } catch {
            return .redirect(response, error)
        }
    }

    private func client(_ reader: ParameterReader) -> (OAuthClient?, OAuthError?) {
        do throws(OAuthError) {
            guard let client = settings.clients[try reader.required(.clientID)] else {
                return (nil, OAuthError(.invalidClient, "The client is unknown; check client_id."))
            }
            return (client, nil)
        } catch {
            return (nil, error)
        }
    }

    private func page(
        _ error: OAuthError, client: OAuthClient? = nil, languages: RequestedLanguages
    ) -> AuthorizationDecision {
        .page(AuthorizationPageError(error: error, client: client, languages: languages))
    }
}
