package app

import (
	"context"
	"errors"
	"reflect"
	"time"

	"svc/admin"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/control"
	"svc/media"
	"svc/store"
)

// Call is an operation of a command. The running server performs it, or this process if none runs.
type Call[A, R any] struct {
	name string // on the control socket
	run  func(*Server, context.Context, A) (R, error)
}

// The operations that commands may call.
var (
	CreateUser      = adminCall("create user", (*admin.Service).CreateUser)
	ResetPassword   = adminCall("reset password", (*admin.Service).ResetPassword)
	RequireReset    = adminCall("require password reset", (*admin.Service).RequirePasswordResets)
	ListUsers       = adminCall("list users", (*admin.Service).Users)
	ShowUser        = adminCall("show user", (*admin.Service).ShowUser)
	UpdateUser      = adminCall("set user", (*admin.Service).UpdateUser)
	ConfirmUsers    = adminCall("confirm users", (*admin.Service).ConfirmUsers)
	ResendMails     = adminCall("resend confirmations", (*admin.Service).ResendConfirmations)
	ApproveUsers    = adminCall("approve users", (*admin.Service).ApproveUsers)
	RejectUser      = adminCall("reject user", (*admin.Service).RejectUser)
	ActivateUsers   = adminCall("activate users", (*admin.Service).ActivateUsers)
	DeactivateUsers = adminCall("deactivate users", (*admin.Service).DeactivateUsers)
	DeleteUsers     = adminCall("delete users", (*admin.Service).DeleteUsers)
	SuggestUsers    = adminCall("suggest users", (*admin.Service).SuggestUsers)
	UnsuggestUsers  = adminCall("unsuggest users", (*admin.Service).UnsuggestUsers)
	TagUsers        = adminCall("tag users", (*admin.Service).TagUsers)
	UntagUsers      = adminCall("untag users", (*admin.Service).UntagUsers)
	FollowUser      = adminCall("follow", (*admin.Service).FollowUser)
	UnfollowUser    = adminCall("unfollow", (*admin.Service).UnfollowUser)
	RebuildHome     = adminCall("rebuild home", (*admin.Service).RebuildHome)
	DisableMFA      = adminCall("disable MFA", (*admin.Service).DisableMFA)

	StartImport    = adminCall("start import", (*admin.Service).StartImport)
	ListImports    = adminCall("list imports", (*admin.Service).Imports)
	SkippedEntries = adminCall("skipped entries", (*admin.Service).SkippedEntries)
	ExportAccount  = adminCall("export account", (*admin.Service).Export)
	BackupAccount  = adminCall("back up account", (*admin.Service).BackupAccount)

	ImportArchive  = archiveCall("import archive", (*admin.Archives).Start)
	ListArchives   = archiveCall("list archives", (*admin.Archives).List)
	UndoArchive    = archiveCall("undo archive", (*admin.Archives).Undo)
	ArchiveSkips   = archiveCall("archive skips", (*admin.Archives).Skipped)
	WaitForArchive = archiveCall("wait for archive", func(s *admin.Archives, ctx context.Context, id string) (*admin.Archive, error) {
		return s.Wait(ctx, id, callTime)
	})

	WaitForImport = newCall("wait for import", (*Server).waitForImport)
	WaitForBackup = newCall("wait for backup", (*Server).waitForBackup)
	CreateInvite  = adminCall("create invite", (*admin.Service).CreateInvite)
	MailInvite    = adminCall("mail invite", (*admin.Service).MailInvite)
	ListInvites   = adminCall("list invites", (*admin.Service).Invites)
	RevokeInvite  = adminCall("revoke invite", (*admin.Service).RevokeInvite)

	ListApps  = adminCall("list apps", (*admin.Service).Apps)
	CreateApp = adminCall("create app", (*admin.Service).CreateApp)
	UpdateApp = adminCall("update app", (*admin.Service).UpdateApp)
	DeleteApp = adminCall("delete app", (*admin.Service).DeleteApp)

	CreateAnnouncement = adminCall("announce", (*admin.Service).CreateAnnouncement)
	ListAnnouncements  = adminCall("list announcements", (*admin.Service).Announcements)
	UpdateAnnouncement = adminCall("update announcement", (*admin.Service).UpdateAnnouncement)
	DeleteAnnouncement = adminCall("delete announcement", (*admin.Service).DeleteAnnouncement)

	ListRules  = adminCall("list rules", (*admin.Service).Rules)
	CreateRule = adminCall("create rule", (*admin.Service).CreateRule)
	UpdateRule = adminCall("update rule", (*admin.Service).UpdateRule)
	DeleteRule = adminCall("delete rule", (*admin.Service).DeleteRule)

	ListReports      = adminCall("list reports", (*admin.Service).Reports)
	ShowReport       = adminCall("show report", (*admin.Service).ShowReport)
	SetReportState   = adminCall("set report state", (*admin.Service).SetReportState)
	AddReportNote    = adminCall("add report note", (*admin.Service).AddReportNote)
	DeleteReportNote = adminCall("delete report note", (*admin.Service).DeleteReportNote)

	ListPosts     = adminCall("list posts", (*admin.Service).Posts)
	ShowPost      = adminCall("show post", (*admin.Service).ShowPost)
	UpdatePost    = adminCall("update post", (*admin.Service).UpdatePost)
	DeletePost    = adminCall("delete post", (*admin.Service).DeletePost)
	CountPosts    = adminCall("count posts", (*admin.Service).CountVisibilities)
	ListChats     = adminCall("list chats", (*admin.Service).ListChats)
	ListMessages  = adminCall("list messages", (*admin.Service).Messages)
	DeleteMessage = adminCall("delete message", (*admin.Service).DeleteMessage)
	ModerationLog = adminCall("moderation log", (*admin.Service).Log)

	PruneMedia       = adminCall("prune media", (*admin.Service).PruneMedia)
	CheckMedia       = adminCall("check media", (*admin.Service).CheckMedia)
	MoveMedia        = newCall("move media", func(s *Server, ctx context.Context, to string) (*media.Move, error) { return s.Mover.Start(ctx, to) })
	ShowMediaMove    = newCall("show media move", func(s *Server, ctx context.Context, _ struct{}) (*media.Move, error) { return s.Mover.Status(ctx) })
	WaitForMediaMove = newCall("wait for media move", (*Server).waitForMediaMove)

	MediaBans  = adminCall("media bans", (*admin.Service).MediaBans)
	BanMedia   = adminCall("ban media", (*admin.Service).BanMedia)
	UnbanMedia = adminCall("unban media", (*admin.Service).UnbanMedia)
	PurgeMedia = adminCall("purge media", (*admin.Service).PurgeMedia)

	ListTokens   = adminCall("list tokens", (*admin.Service).Tokens)
	RevokeToken  = adminCall("revoke token", (*admin.Service).RevokeToken)
	SignOutUsers = adminCall("sign out users", (*admin.Service).SignOutUsers)

	reportDamage   = adminCall("report damage", (*admin.Service).ReportDamage)
	CheckDatabase  = adminCall("check database", (*admin.Service).CheckDatabase)
	RecountData    = adminCall("recount data", (*admin.Service).RecountData)
	DatabaseSizes  = adminCall("database sizes", (*admin.Service).DatabaseSizes)
	VacuumDatabase = adminCall("vacuum database", (*admin.Service).VacuumDatabase)
	PruneDatabase  = adminCall("prune database", (*admin.Service).PruneDatabase)

	Refetch = newCall("refetch", (*Server).refetch)

	SetLogLevel = newCall("log level", (*Server).setLogLevel)
	TestMail    = newCall("test mail", (*Server).testMail)
	Restart     = newCall("restart", (*Server).restartByCommand)
	showVersion = newCall("show version", func(s *Server, _ context.Context, _ struct{}) (string, error) { return s.version, nil })

	ShowSettings   = adminCall("show settings", (*admin.Service).SettingsText)
	SetSetting     = adminCall("set setting", (*admin.Service).SetSetting)
	UnsetSetting   = adminCall("unset setting", (*admin.Service).UnsetSetting)
	ExportSettings = adminCall("export settings", (*admin.Service).ExportSettings)
	ImportSettings = adminCall("import settings", (*admin.Service).ImportSettings)

	StorageUsage = adminCall("storage usage", (*admin.Service).StorageUsage)

	BlockHost        = adminCall("block host", (*admin.Service).BlockHost)
	UnblockHosts     = adminCall("unblock hosts", (*admin.Service).UnblockHosts)
	ListHostBlocks   = adminCall("list host blocks", (*admin.Service).HostBlocks)
	PreviewHosts     = adminCall("preview hosts", (*admin.Service).PreviewHosts)
	ImportHostBlocks = adminCall("import host blocks", (*admin.Service).ImportBlocks)
	ExportHostBlocks = adminCall("export host blocks", (*admin.Service).ExportBlocks)

	BlockAccess      = adminCall("block access", (*admin.Service).BlockAccess)
	UnblockAccess    = adminCall("unblock access", (*admin.Service).UnblockAccess)
	ListAccessBlocks = adminCall("list access blocks", (*admin.Service).AccessBlocks)

	PurgeInstance = adminCall("purge instance", (*admin.Service).PurgeInstance)
	ListPurges    = adminCall("list instance purges", (*admin.Service).InstancePurges)
	WaitForPurge  = newCall("wait for instance purge", (*Server).waitForPurge)

	CloseServer    = adminCall("close server", (*admin.Service).CloseServer)
	CancelClosure  = adminCall("cancel closure", (*admin.Service).CancelClosure)
	ShowClosure    = adminCall("show closure", (*admin.Service).Closure)
	WaitForClosure = newCall("wait for closure", (*Server).waitForClosure)

	ListJobs  = adminCall("list jobs", (*admin.Service).ParkedJobs)
	RetryJobs = adminCall("retry jobs", (*admin.Service).RetryParkedJobs)
	DropJobs  = adminCall("drop jobs", (*admin.Service).DropParkedJobs)

	FollowRelay = relayCall("follow relay", func(s *federation.Relays, ctx context.Context, address string) (*federation.Relay, error) {
		return s.Follow(ctx, nil, address)
	})
	UnfollowRelay = relayCall("unfollow relay", func(s *federation.Relays, ctx context.Context, r RelayUnfollow) (struct{}, error) {
		return struct{}{}, s.Unfollow(ctx, nil, r.Address, r.Force)
	})
	ListRelays = relayCall("list relays", func(s *federation.Relays, ctx context.Context, _ struct{}) ([]*federation.Relay, error) {
		return s.List(ctx)
	})

	ListFrontends = frontendCall("list front ends", func(f *admin.Frontends, ctx context.Context, _ struct{}) ([]*admin.Frontend, error) {
		return f.List(ctx)
	})
	InstallFrontend = frontendCall("install front end", installFrontend)
	RemoveFrontend  = frontendCall("remove front end", (*admin.Frontends).Remove)
	UseFrontend     = frontendCall("use front end", (*admin.Frontends).Use)

	ShowDocument   = documentCall("show document", (*admin.Documents).Show)
	WriteDocument  = documentCall("write document", (*admin.Documents).Write)
	DeleteDocument = documentCall("delete document", (*admin.Documents).Delete)

	ShowQueue  = operatorCall("show queue", (*federation.Operator).QueueStatus)
	ListPeers  = operatorCall("list peers", (*federation.Operator).Peers)
	Retry      = operatorCall("retry", (*federation.Operator).Retry)
	Drop       = operatorCall("drop", (*federation.Operator).Drop)
	Explain    = operatorCall("explain", (*federation.Operator).Explain)
	RotateKeys = operatorCall("rotate keys", (*federation.Operator).RotateKeys)
)

// VerifyData is admin.VerifyData, and reports damage of the database to the server that runs on it, which stops writing. It opens the bucket of the
// settings.
func VerifyData(ctx context.Context, c *config.Config, o admin.VerifyOptions) (*admin.Verification, error) {
	var err error
	if o.Bucket, err = media.OpenBucket(ctx, c, nil); err != nil {
		return nil, err
	}
	defer o.Bucket.Close()
	v, err := admin.VerifyData(ctx, o)
	if err != nil {
		return nil, err
	}
	if problem := v.FileDamage(); problem != "" {
		err = control.Call(ctx, o.DataDir, reportDamage.name, problem, new(struct{}))
		if errors.Is(err, control.ErrNotRunning) {
			err = nil
		}
	}
	return v, err
}

// RelayUnfollow names a relay to unfollow.
type RelayUnfollow struct {
	Address string `json:"relay_url"`
	Force   bool   `json:"force"` // even if the relay cannot be reached
}

// calls are all operations by name.
var calls = make(map[string]handledCall)

// handledCall is an operation as the server performs it.
type handledCall struct {
	handler      func(*Server) control.Handler
	args, result reflect.Type
}

// callTime is how long a call waits for an import or a backup. The command calls again.
const callTime = 10 * time.Second

// ImportProgress is the state of an import.
type ImportProgress struct {
	*admin.Import
	Retrying bool `json:"retrying"` // only entries are left whose server did not answer
}

// ClosureState is the state of the closing of this server.
type ClosureState struct {
	*admin.ServerClosure
	Running bool `json:"running"` // the server, which does the work
}

// waitForImport waits for an import, and runs it if no server does.
func (s *Server) waitForImport(ctx context.Context, id int64) (*ImportProgress, error) {
	i, retrying, err := s.Federation.Importer.Wait(ctx, store.ImportID(id), callTime)
	if err != nil {
		return nil, err
	}
	return &ImportProgress{admin.NewImport(i), retrying}, nil
}

// waitForBackup waits for a backup of an account, and makes it if no server does.
func (s *Server) waitForBackup(ctx context.Context, id int64) (*admin.AccountBackup, error) {
	b, err := s.Federation.Archiver.Wait(ctx, store.AccountBackupID(id), callTime)
	if err != nil {
		return nil, err
	}
	return admin.NewAccountBackup(b, s.Social.BackupURL(b)), nil
}

// waitForPurge waits for the purge of an instance, and runs it if no server does.
func (s *Server) waitForPurge(ctx context.Context, host string) (*admin.InstancePurge, error) {
	return s.Admin.WaitForPurge(ctx, host, callTime)
}

// waitForMediaMove waits for the end of a move of media, and runs it if no server does.
func (s *Server) waitForMediaMove(ctx context.Context, _ struct{}) (*media.Move, error) {
	return s.Mover.Wait(ctx, callTime, s.running.Load())
}

// waitForClosure waits for the end of the closing of this server.
func (s *Server) waitForClosure(ctx context.Context, _ struct{}) (*ClosureState, error) {
	closure, err := s.Admin.WaitForClosure(ctx, callTime)
	return &ClosureState{closure, s.running.Load()}, err
}

// commands returns the handlers of all operations for the control socket.
func (s *Server) commands() control.Commands {
	list := make(control.Commands)
	for name, c := range calls {
		list[name] = c.handler(s)
	}
	return list
}

func newCall[A, R any](name string, run func(*Server, context.Context, A) (R, error)) Call[A, R] {
	handler := func(s *Server) control.Handler {
		return control.Command(func(ctx context.Context, args A) (R, error) { return run(s, store.AllowWhenFull(ctx), args) })
	}
	calls[name] = handledCall{handler, reflect.TypeFor[A](), reflect.TypeFor[R]()}
	return Call[A, R]{name, run}
}

func adminCall[A, R any](name string, run func(*admin.Service, context.Context, A) (R, error)) Call[A, R] {
	return newCall(name, func(s *Server, ctx context.Context, args A) (R, error) { return run(s.Admin, ctx, args) })
}

func archiveCall[A, R any](name string, run func(*admin.Archives, context.Context, A) (R, error)) Call[A, R] {
	return newCall(name, func(s *Server, ctx context.Context, args A) (R, error) { return run(s.ImportedArchives, ctx, args) })
}

func relayCall[A, R any](name string, run func(*federation.Relays, context.Context, A) (R, error)) Call[A, R] {
	return newCall(name, func(s *Server, ctx context.Context, args A) (R, error) { return run(s.Federation.Relays, ctx, args) })
}

func frontendCall[A, R any](name string, run func(*admin.Frontends, context.Context, A) (R, error)) Call[A, R] {
	return newCall(name, func(s *Server, ctx context.Context, args A) (R, error) { return run(s.Frontends, ctx, args) })
}

// installFrontend installs a front end from the file that the command sent, if it sent one.
func installFrontend(f *admin.Frontends, ctx context.Context, i admin.FrontendInstall) (*admin.Frontend, error) {
	archive, err := control.File(ctx)
	if err != nil {
		return nil, err
	}
	i.Archive = archive
	return f.Install(ctx, i)
}

func documentCall[A, R any](name string, run func(*admin.Documents, context.Context, A) (R, error)) Call[A, R] {
	return newCall(name, func(s *Server, ctx context.Context, args A) (R, error) { return run(s.Documents, ctx, args) })
}

func operatorCall[A, R any](name string, run func(*federation.Operator, context.Context, A) (R, error)) Call[A, R] {
	return newCall(name, func(s *Server, ctx context.Context, args A) (R, error) { return run(s.Federation.Operator, ctx, args) })
}

// lockTimeout bounds how long a call waits for a server that is starting or stopping.
const lockTimeout = 15 * time.Second

// Do performs the operation in the server that runs on the data directory of the settings, or in this process if none runs.
func (c Call[A, R]) Do(ctx context.Context, settings *config.Config, o Options, args A) (R, error) {
	var result R
	for deadline := time.Now().Add(lockTimeout); ; {
		err := control.Call(ctx, settings.Data.Dir, c.name, args, &result)
		if !errors.Is(err, control.ErrNotRunning) {
			return result, err
		}
		result, err = c.DoHere(ctx, settings, o, args)
		if !errors.Is(err, store.ErrInUse) || time.Now().After(deadline) {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// DoHere performs the operation in this process. The data directory must contain a database: only the server and its set-up make one, so
// that a command in a wrong folder does not.
func (c Call[A, R]) DoHere(ctx context.Context, settings *config.Config, o Options, args A) (result R, err error) {
	if err := checkDatabase(settings); err != nil {
		return result, err
	}
	s, err := New(ctx, settings, o)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, s.Close(), returnToOwner(settings.Data.Dir)) }()
	return c.run(s, store.AllowWhenFull(ctx), args)
}
