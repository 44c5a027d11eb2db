import AppleAccounts
package import AuthorizationServer
import Cryptography
import Encodings
import HTTPEngine
import NIOHTTP1
import OAuth

/// A user page with sample values, shown in the console.
///
/// The preview's links and forms have no URLs, and its policy allows neither navigation nor form submission.
/// The color scheme is fixed, because a page in a frame cannot follow the browser's color scheme.
package struct PagePreview: Sendable {
    package enum Page: String, Sendable, CaseIterable {
        case consent
        case device
        case deviceCode = "device-code"
        case deviceConnected = "device-connected"
        case connections
        case logout
        case signedOut = "signed-out"
        case clientUnknown = "client-unknown"
        case redirectURIMismatch = "redirect-uri-mismatch"
        case embeddedBrowser = "embedded-browser"
        case accountDisabled = "account-disabled"
        case signInOver = "sign-in-over"
        case unavailable
    }

    package enum Scheme: String, Sendable, CaseIterable {
        case light
        case dark
    }

    package let html: [UInt8]
    /// The value of the `content-security-policy` header.
    package let policy: String

    /// Returns `nil` if the client does not have this page. For example, a client without a redirect URI has
    /// no consent page.
    package init?(
        _ page: Page, of client: OAuthClient, settings: OAuthSettings, language: PageLanguage, scheme: Scheme
    ) {
        let samples = PromptSamples(client: client, settings: settings, language: language)
        guard let response = Self.response(page, samples) else { return nil }
        let parts = Self.parts(of: String(decoding: response.body, as: UTF8.self))
        let style = parts.style.replacing(
            "@media (prefers-color-scheme:dark)", with: scheme == .dark ? "@media all" : "@media not all")
        let hash = Base64.encode(SHA256Digest.hash(style))
        policy =
            "default-src 'none'; style-src 'sha256-\(hash)'; img-src data:; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'self'; sandbox"
        html = Array(
            (Self.inert(parts.start, scheme) + style + Self.inert(parts.end, scheme)).utf8)
    }

    /// Splits a page into the parts before, inside and after its style element, because the policy contains
    /// the style's hash.
    private static func parts(of html: String) -> (start: String, style: String, end: String) {
        guard let open = html.firstRange(of: "<style>"), let close = html.firstRange(of: "</style>") else {
            return (html, "", "")
        }
        return (
            String(html[..<open.upperBound]), String(html[open.upperBound..<close.lowerBound]),
            String(html[close.lowerBound...])
        )
    }

    /// Returns the page without link and form URLs. Quotation marks in values are escaped, so these
    /// attributes match only in markup.
    private static func inert(_ html: String, _ scheme: Scheme) -> String {
        html.replacing(" href=\"", with: " data-href=\"").replacing(" action=\"", with: " data-action=\"")
            .replacing("content=\"light dark\"", with: "content=\"\(scheme.rawValue)\"")
    }

    private static func response(_ page: Page, _ samples: PromptSamples) -> HTTPResponse? {
        let (client, language) = (samples.client, samples.language)
        let refusals = AuthorizeTexts.of(language).refusals
        switch page {
        case .consent:
            return samples.consent.map { ConsentPage(prompt: $0, language: language).response }
        case .device:
            guard client.mayUse(.deviceCode) else { return nil }
            return DeviceConsentPage(
                prompt: samples.device, query: samples.deviceQuery, language: language, cookie: nil
            ).response
        case .deviceCode:
            guard client.mayUse(.deviceCode) else { return nil }
            return DeviceCodePage(query: samples.deviceQuery, fault: nil, language: language).response
        case .deviceConnected:
            guard client.mayUse(.deviceCode) else { return nil }
            return DeviceEndPage(client: client, isAgreed: true, language: language).response
        case .connections:
            return ConnectionsPage(
                list: samples.connections,
                query: ConnectionsQuery(app: client.app.rawValue, language: language), language: language
            ).response
        case .logout: return LogoutPage(prompt: samples.logout, language: language).response
        case .signedOut:
            return LogoutResultPage(text: LogoutTexts.of(language).signedOut, language: language).response
        case .clientUnknown:
            var refused = refusal(refusals.unknownClient, "client_unknown", samples)
            refused.found = "another-client"
            return refused.response
        case .redirectURIMismatch:
            var refused = refusal(refusals.redirectURIMismatch, "redirect_uri_mismatch", samples)
            refused.found = "https://another.example.com/callback"
            return refused.response
        case .embeddedBrowser:
            var refused = refusal(refusals.embeddedBrowser, "embedded_browser", samples)
            refused.address = samples.settings.issuer.url(
                "\(AuthorizeUseCase.path)?client_id=\(client.id.rawValue)")
            return refused.response
        case .accountDisabled:
            return refusal(refusals.accountDisabled, "account_disabled", samples).response
        case .signInOver: return refusal(refusals.signInOver, "state_expired", samples).response
        case .unavailable: return refusal(refusals.unavailable, "unavailable", samples).response
        }
    }

    private static func refusal(
        _ text: AuthorizeTexts.Refusal, _ code: String, _ samples: PromptSamples
    ) -> AuthorizeRefusalPage {
        AuthorizeRefusalPage(
            refusal: text, status: .forbidden, code: code, requestID: "req_0123456789abcdef",
            language: samples.language)
    }
}
