package store

// MailKind is what a mail is about. Each kind has a template of its own (server/web/mail).
type MailKind string

const (
	MailConfirmation    MailKind = "confirmation"     // to confirm the address of a new account
	MailPasswordReset   MailKind = "password_reset"   // a link that sets a new password
	MailPasswordChanged MailKind = "password_changed" // the password was changed
	MailAddressChange   MailKind = "address_change"   // to the pending address, to confirm it
	MailAddressChanged  MailKind = "address_changed"  // to the old address; values: address, and pending if it awaits confirmation
	MailAwaitsApproval  MailKind = "awaits_approval"  // the address is confirmed, and the account awaits approval
	MailApproved        MailKind = "approved"         // the account is active
	MailRejected        MailKind = "rejected"         // the account was not approved; To is set; values: nickname, language
	MailAccountAction   MailKind = "account_action"   // staff took an action against the account; values: action, text
	MailNewRegistration MailKind = "new_registration" // to staff: AboutID awaits approval
	MailNewReport       MailKind = "new_report"       // to staff; values: report_id
	MailStorageFull     MailKind = "storage_full"     // to staff; values: reason
	MailBackupFailed    MailKind = "backup_failed"    // to staff: scheduled backups of the server fail; values: reason
	MailDoctor          MailKind = "doctor"           // to staff: checks of the server; values: worse and well, texts of several lines
	MailInvite          MailKind = "invite"           // to an address; values: path of the link
	MailBackupReady     MailKind = "backup_ready"     // values: link of the archive
	MailNewSignIn       MailKind = "new_sign_in"      // from a new network; values: network, app, time
)

// ToStaff returns true for mail that each admin and moderator gets.
func (k MailKind) ToStaff() bool {
	return k == MailNewRegistration || k == MailNewReport || k == MailStorageFull || k == MailBackupFailed || k == MailDoctor
}

// SendMail is the job that sends one mail. It holds no secrets: links with a one-time token get their token when the mail is sent.
type SendMail struct {
	Mail      MailKind          `json:"mail"`
	AccountID AccountID         `json:"account_id,omitempty"` // the user that it is for; 0: none
	AboutID   AccountID         `json:"about_id,omitempty"`   // the account that it is about, if that is another
	To        string            `json:"to,omitempty"`         // "": the address of the user
	Values    map[string]string `json:"values,omitempty"`     // for the template
}

func (SendMail) Kind() JobKind { return JobKind{Name: "send_mail", Parallel: 2} }

// RequestMail is the job that looks up the user who wants a mail, MailPasswordReset or MailConfirmation.
type RequestMail struct {
	Mail  MailKind `json:"mail"`
	Login string   `json:"login"` // a nickname or an e-mail address
}

func (RequestMail) Kind() JobKind { return JobKind{Name: "request_mail"} }
