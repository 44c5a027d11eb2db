import AuthorizationServer

// The choice of texts for a client. The consent page and the prompt of App Flip both ask here.
extension AuthorizeTexts.Consent {
    /// `{client}`, `{app}`
    func heading(for client: OAuthClient) -> String {
        if client.googleLinking != nil { return titleForGoogle }
        return client.isFirstParty ? titleForFirstParty : title
    }

    /// The label of the button that grants consent.
    func agreement(with client: OAuthClient) -> String {
        if client.googleLinking != nil { return agreeAndLink }
        return client.isFirstParty ? goOn : allow
    }

    /// Texts that Google's review requires, below the scopes.
    var notesForGoogle: [ConsentNote] {
        [
            ConsentNote(template: authorizationForGoogle, place: "agree", text: agreeAndLink, url: nil),
            ConsentNote(
                template: googlePolicy, place: "policy", text: googlePolicyName,
                url: "https://policies.google.com/privacy"),
            ConsentNote(
                template: unlinkFromGoogle, place: "connections", text: googleConnectionsName,
                url: "https://myaccount.google.com/connections"),
        ]
    }
}
